// A study as a terminal shows it: tables of methods and aggregates by criteria, then what they mean in words.
//
// Lines of tables stay within about 120 columns, those of sentences within 100. Text from users is on one line and cut
// when long; nothing here is coloured.
#pragma once

#include <string>

#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// Mean +- standard error by entry and criterion, marked where a test says so; the main criteria (faithfulness,
// sensitivities, complexity) with the cost first, all others below, a legend and why scores are missing.
std::string study_table(const Study& study, const Assessment& assessment, const StudyTimes& times);

// Verdict, warnings and what was left out, as lists of sentences.
std::string study_conclusions(const Study& study, const Assessment& assessment);

}  // namespace assay

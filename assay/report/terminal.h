// A study as text for a terminal: tables of methods and aggregates by criteria, then the conclusions.
//
// Tables are about 120 columns wide, sentences at most 100. Text from users is made one line and cut when long. There
// are no colours.
#pragma once

#include <string>

#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// Mean +- standard error by entry and criterion, with marks for the best. First the main criteria (faithfulness,
// sensitivities, complexity) with the cost, then all others, a legend, and why scores are missing.
std::string study_table(const Study& study, const Assessment& assessment, const StudyTimes& times);

// Verdict, warnings and what was left out, as lists of sentences.
std::string study_conclusions(const Study& study, const Assessment& assessment);

}  // namespace assay

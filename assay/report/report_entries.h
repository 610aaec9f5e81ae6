// The entries of a study, with their scores and what the advice says of them, and its criteria, as JSON for a report.
#pragma once

#include <string>

#include "assay/study/assess.h"
#include "assay/study/study.h"

namespace assay {

// For each criterion: names, direction, meaning and scale.
std::string shown_criteria_json(const Study& study);

// For each entry: scores with their standing, whether it is faithful, whose alias it is, whether it adds up.
std::string shown_entries_json(const Study& study, const Assessment& assessment, const StudyTimes& times);

}  // namespace assay

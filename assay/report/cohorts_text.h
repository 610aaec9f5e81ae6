// Groups of rows for people: as tables for a terminal, and as JSON for the page.
#pragma once

#include <string>

#include "assay/study/advice.h"
#include "assay/study/cohorts.h"
#include "assay/study/study.h"

namespace assay {

// One table for each column, then what differs. Empty if the study has no groups.
std::string cohorts_text(const Study& study, const Advice& advice);

// "accuracy is 0.12 lower", "the share of age is 0.08 higher".
std::string difference_in_words(const Study& study, const CohortDifference& difference);

// For the page: the groups, of the differences those that are significant. With cells = false, groups have no names but
// their numbers: a level, and the number that a column is cut at, are cells of the file. "null" if there are no groups.
std::string shown_cohorts_json(const Study& study, const Advice& advice, bool cells);

}  // namespace assay

// scores.csv: a line for each row and entry of a study, entry by entry, and a column for each criterion that scores
// rows. For spreadsheets and data frames; docs/study-format.md describes the columns.
//
// Cells with commas, quotes or ends of lines are quoted, quotes doubled (RFC 4180, but lines end in \n). An undefined
// score is an empty cell, infinities are inf and -inf, other numbers the shortest text that reads back equal. Names
// are written as they are, even where a spreadsheet would take one for a formula.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "assay/study/study.h"

namespace assay {

// Hands on the file in pieces of some tens of kilobytes; memory does not grow with the study.
void write_scores_csv(const Study& study, const std::function<void(std::string_view)>& write);
// All of it.
std::string scores_csv(const Study& study);

}  // namespace assay

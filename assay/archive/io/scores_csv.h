// scores.csv: a line for each entry and row, entry by entry, and a column for each criterion that scores rows. For
// spreadsheets and data frames. docs/study-format.md describes the columns.
//
// Cells with commas, quotes or line ends are quoted, quotes doubled (RFC 4180, but lines end in \n). An undefined score
// is an empty cell, infinities are inf and -inf, other numbers have the shortest text that reads back equal. Names are
// written as they are, even if a spreadsheet would take one for a formula.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "assay/study/study.h"

namespace assay {

// Calls `write` with pieces of the file of some tens of kilobytes. Memory does not grow with the study.
void write_scores_csv(const Study& study, const std::function<void(std::string_view)>& write);
// The whole file.
std::string scores_csv(const Study& study);

}  // namespace assay

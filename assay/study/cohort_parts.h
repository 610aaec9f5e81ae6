// How a column is cut into groups of rows.
//
// A column of texts: one part for each level that a row has, in the order of the levels. Of more than 12 the largest
// stay, and the rest is one part. A column of numbers: up to 4 different ones are levels. More are cut at the
// quartiles, which are numbers of the column (the least one that a quarter of the rows does not exceed, and so on), so
// that equal numbers are never apart; where quartiles are equal there are fewer parts, at least two. Missing cells are
// a part of their own. Every row is in exactly one part.
//
// Cost: rows x log rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/data/row_column.h"
#include "assay/study/cohorts.h"

namespace assay {

inline constexpr size_t kMostCohortLevels = 12;
inline constexpr size_t kCohortQuantiles = 4;

struct ColumnParts {
  CohortCut cut = CohortCut::levels;
  std::vector<std::string> names = {};  // of the parts; no two are the same
  std::vector<uint32_t> of_row = {};    // the part of each row
};

ColumnParts column_parts(const RowColumn& column);

// At most parts - 1 of the numbers, ascending, such that rows up to the first, above it and up to the second, ... are
// about equally many. NaN is left out. At least one if two numbers differ, and then none is the largest number.
std::vector<double> quantile_cuts(std::vector<double> numbers, size_t parts);

}  // namespace assay

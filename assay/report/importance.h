// Which features matter to a model by an explanation function: the mean of |phi| over the rows.
//
// For each target apart, because what makes a class likely is no statement about another class. Rows without values are
// left out of an entry's mean. Cost: rows x players.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

struct TargetRows {
  uint32_t target = 0;
  std::vector<size_t> rows;
};

// The rows of each target that has some, in order of the targets.
std::vector<TargetRows> rows_by_target(std::span<const uint32_t> of_row);

// One for each player; all NaN where no row has values.
std::vector<double> mean_absolute(const Matrix& values, std::span<const size_t> rows);

}  // namespace assay

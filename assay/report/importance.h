// Which features matter to a model according to an explanation function: the mean of |phi| over the rows.
//
// Computed for each target separately, because importance for one class says nothing about another. Rows with undefined
// values are left out. Cost: rows x players.
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

// For each target that occurs, in order of the targets, its rows.
std::vector<TargetRows> rows_by_target(std::span<const uint32_t> of_row);

// One of each for every player; all NaN if no row has values. low, high: the 95 % interval of the mean (size_interval).
struct MeanSizes {
  std::vector<double> mean = {};
  std::vector<double> low = {};
  std::vector<double> high = {};
};
MeanSizes mean_absolute(const Matrix& values, std::span<const size_t> rows);

}  // namespace assay

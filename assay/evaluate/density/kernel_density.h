// A Gaussian kernel density over the explanations of reference rows.
//
// Coordinates that do not vary over the reference rows are dropped. The others are scaled to unit variance (with n -
// 1). The bandwidth is Scott's (1992), h = n^(-1 / (d + 4)) for n rows and the d coordinates that are left. All in
// logarithms: densities of hundreds of coordinates would underflow.
// Cost of one density: n x d.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

class KernelDensity {
 public:
  // The rows of `values` with these indices; all their values are numbers.
  KernelDensity(MatrixView<const float> values, std::span<const size_t> rows);

  size_t rows() const { return scaled_.rows(); }
  size_t coordinates() const { return columns_.size(); }
  // ln of the mean kernel at x over the reference rows, up to a constant that is the same for every x. leave_out:
  // positions of reference rows that do not count, ascending; at least one row must be left.
  double log_density(std::span<const float> x, std::span<const size_t> leave_out = {}) const;

 private:
  std::vector<uint32_t> columns_;  // the coordinates that vary
  std::vector<double> scales_;     // by such coordinate: 1 / (standard deviation x bandwidth)
  Matrix64 scaled_;                // reference rows x columns that vary
};

}  // namespace assay

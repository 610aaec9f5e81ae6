// A Gaussian kernel density over the explanations of reference rows.
//
// Coordinates are scaled to unit variance (with n - 1) over the reference rows, those that do not vary are dropped, and
// the bandwidth is Scott's (1992), h = n^(-1 / (d + 4)) for n rows and the d coordinates that are left. Logarithms
// throughout: densities of hundreds of coordinates would underflow.
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
  // ln of the mean kernel at x over the reference rows but those at the positions to leave out (ascending), up to a
  // constant that is the same for every x. There must be a row left. Coordinates of x that do not vary over the
  // reference play no part.
  double log_density(std::span<const float> x, std::span<const size_t> leave_out = {}) const;

 private:
  std::vector<uint32_t> columns_;  // that vary
  std::vector<double> scales_;     // of those: 1 / (standard deviation x bandwidth)
  Matrix64 scaled_;                // reference rows x columns that vary
};

}  // namespace assay

#include "assay/evaluate/density/kernel_density.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "assay/core/statistics.h"

namespace assay {
namespace {

// Four sums side by side: one alone would wait for each of its additions.
double squared_distance(const double* a, const double* b, size_t count) {
  std::array<double, 4> sums{};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t k = 0; k < 4; k++) sums[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
  }
  for (size_t k = 0; i + k < count; k++) sums[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

KernelDensity::KernelDensity(MatrixView<const float> values, std::span<const size_t> rows) {
  for (uint32_t c = 0; c < values.cols(); c++) {
    RunningMoments moments;
    double largest = 0;
    for (const size_t r : rows) {
      moments.add(values(r, c));
      largest = std::max(largest, std::abs(static_cast<double>(values(r, c))));
    }
    // What varies in its last bits alone is rounding, and standardised it would weigh as much as what matters.
    if (const double deviation = moments.standard_deviation(); deviation > 1e-6 * largest) {
      columns_.push_back(c);
      scales_.push_back(1 / deviation);
    }
  }
  const double bandwidth = std::pow(static_cast<double>(rows.size()), -1 / (static_cast<double>(columns_.size()) + 4));
  for (double& scale : scales_) scale /= bandwidth;
  scaled_ = Matrix64(rows.size(), columns_.size());
  for (size_t i = 0; i < rows.size(); i++) {
    for (size_t c = 0; c < columns_.size(); c++) scaled_(i, c) = values(rows[i], columns_[c]) * scales_[c];
  }
}

double KernelDensity::log_density(std::span<const float> x, std::span<const size_t> leave_out) const {
  assert(rows() > leave_out.size());
  const size_t width = columns_.size();
  std::vector<double> at(width);
  for (size_t c = 0; c < width; c++) at[c] = x[columns_[c]] * scales_[c];
  std::vector<double> exponents;
  exponents.reserve(rows());
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < rows(); i++) {
    if (!leave_out.empty() && leave_out.front() == i) {
      leave_out = leave_out.subspan(1);
      continue;
    }
    const double squares = squared_distance(scaled_.row(i).data(), at.data(), width);
    exponents.push_back(-squares / 2);
    largest = std::max(largest, exponents.back());
  }
  double sum = 0;
  for (const double exponent : exponents) sum += std::exp(exponent - largest);
  return largest + std::log(sum / static_cast<double>(exponents.size()));
}

}  // namespace assay

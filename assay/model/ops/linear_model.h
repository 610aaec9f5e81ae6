// X W^T + b of LinearRegressor and LinearClassifier, whose coefficients are attributes.
//
// Sums run in double, feature by feature, and are rounded to float32 once: onnxruntime sums in float32 and agrees to
// the rounding of its sums.
#pragma once

#include <cstddef>
#include <vector>

#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/node_setup.h"

namespace assay {

class LinearModel {
 public:
  LinearModel() = default;
  // Reads `width` coefficients for each target. More are refused only if `exact`. Without intercepts, they are zeros.
  LinearModel(const NodeSetup& setup, size_t targets, size_t width, bool exact);

  size_t targets() const { return targets_; }
  size_t held_bytes() const { return (intercepts_.size() + by_feature_.size()) * sizeof(double); }
  // For one row.
  uint64_t steps() const { return uint64_t{width_} * targets_ * KernelCost::kSlowSteps; }
  // The targets of one row.
  template <class T>
  void apply(const T* row, double* out) const {
    for (size_t t = 0; t < targets_; t++) out[t] = intercepts_[t];
    for (size_t f = 0; f < width_; f++) {
      const auto x = static_cast<double>(row[f]);
      const double* weights = &by_feature_[f * targets_];
      for (size_t t = 0; t < targets_; t++) out[t] += x * weights[t];
    }
  }
  // Adds the derivatives by one row, given those by its targets.
  template <class T>
  void pull_back(const double* slopes, T* row) const {
    for (size_t f = 0; f < width_; f++) {
      const double* weights = &by_feature_[f * targets_];
      double total = 0;
      for (size_t t = 0; t < targets_; t++) total += slopes[t] * weights[t];
      row[f] += static_cast<T>(total);
    }
  }

 private:
  size_t targets_ = 0;
  size_t width_ = 0;
  std::vector<double> intercepts_;
  std::vector<double> by_feature_;  // the coefficients of a feature stand together: sums of all targets grow at once
};

}  // namespace assay

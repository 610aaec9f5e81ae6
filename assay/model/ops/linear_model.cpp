#include "assay/model/ops/linear_model.h"

#include <fmt/format.h>

namespace assay {

LinearModel::LinearModel(const NodeSetup& setup, size_t targets, size_t width, bool exact)
    : targets_(targets), width_(width), intercepts_(targets) {
  const std::vector<float> coefficients = setup.reals("coefficients");
  // Features and targets come from the input's dimensions and other attributes: no product that overflows.
  const size_t rows = width_ == 0 ? 0 : coefficients.size() / width_;
  const bool fits = rows == (width_ == 0 ? 0 : targets_) && rows * width_ == coefficients.size();
  if (!fits && (exact || width_ == 0 || rows < targets_)) {
    setup.fail(fmt::format("expected {} x {} coefficients (targets x features of the input), found {}", targets_,
                           width_, coefficients.size()));
  }
  const std::vector<float> intercepts = setup.reals("intercepts");
  if (!intercepts.empty() && intercepts.size() != targets_) {
    setup.fail(fmt::format("expected {} intercepts, found {}", targets_, intercepts.size()));
  }
  for (size_t t = 0; t < intercepts.size(); t++) intercepts_[t] = static_cast<double>(intercepts[t]);
  by_feature_.resize(coefficients.size());
  for (size_t t = 0; t < targets_; t++) {
    for (size_t f = 0; f < width_; f++) {
      by_feature_[f * targets_ + t] = static_cast<double>(coefficients[t * width_ + f]);
    }
  }
}

}  // namespace assay

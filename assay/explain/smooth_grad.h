// SmoothGrad: the mean gradient over noisy copies of the row, phi_j = (1 / n) sum over draws s of d value / d x_j at
// x + e_s (Smilkov, Thorat, Kim, Viegas, Wattenberg 2017).
//
// The noise of column j is normal with standard deviation level * (standard deviation of j over the pool), so that
// columns of different units are moved alike and categories (deviation 0) stay what they are. Without a pool it is
// level * (largest - smallest value of the row), the paper's choice for images. All rows share their draws, and the
// standard error is that of the mean over them. Groups: sums of their columns, as for the gradient.
// Deviation from the paper: its noise is 10 to 20 % of an image's range; default 0.1 here, in either unit.
// Cost: `samples` forward and backward passes for a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/explain/explainer.h"

namespace assay {

class SmoothGrad final : public Explainer {
 public:
  struct Options {
    int64_t samples = 50;
    double level = 0.1;
    void describe(OptionVisitor& visit) {
      visit.integer("samples", samples, "noisy copies of each row", "copies", 2, 1'000'000);
      visit.real("level", level, "deviation of the noise, over that of the feature in the pool (or the row's range)",
                 "", 0, 100);
    }
  };

  explicit SmoothGrad(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;

 private:
  Options options_;
};

MethodInfo smooth_grad_method();

}  // namespace assay

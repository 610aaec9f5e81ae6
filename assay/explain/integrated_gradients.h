// Integrated gradients (Sundararajan, Taly, Yan 2017): the gradient's mean along the straight path from the reference r
// to the row x, times the way,
//   phi_j = (x_j - r_j) * integral over a from 0 to 1 of d value / d x_j at r + a (x - r).
// Complete: the values sum to output - base. Groups get the sum of their columns. With a background, the mean over
// paths from each of its rows (expected gradients without their sampling: Erion et al. 2021), and the standard error of
// that mean.
//
// rule=exact: networks with one hidden layer of (leaky) ReLUs have the integral in closed form (paths/leaky_paths.h).
// rule=auto takes it where it can, else gauss_legendre. The other rules sum gradients at `steps` points
// (paths/quadrature.h). Gauss-Legendre is best where the output is smooth along the path; through ReLUs all rules are
// of first order, because gradients jump.
//
// Steps grow: where |output - base - sum| of a path is above tolerance * (mean over the reference rows of |output -
// base|), its points are doubled, up to most_steps; what float32 rounding explains is let pass. Rows that still are
// above at the end are counted in a note. tolerance=0 takes exactly `steps` points. A path's points depend on its row
// alone, so results do not depend on the other rows.
//
// Cost: for each row and reference row, `steps` gradients, and as many as all doublings together; exact: one.
// Deviation from Captum: its trapezoid rule gives weights whose sum is (n - 1) / n; here it is 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/explain/explainer.h"

namespace assay {

class IntegratedGradients final : public Explainer {
 public:
  struct Options {
    std::string rule = "auto";
    int64_t steps = 32;
    int64_t most_steps = 1024;
    double tolerance = 1e-3;
    void describe(OptionVisitor& visit) {
      visit.choice("rule", rule, "how the path integral is computed",
                   {"auto", "exact", "gauss_legendre", "trapezoid", "left", "right", "middle"});
      visit.integer("steps", steps, "points on the path at first", "gradients", 1, 1'000'000);
      visit.integer("most_steps", most_steps, "points up to which they are doubled", "gradients", 1, 1'000'000);
      visit.real("tolerance", tolerance,
                 "completeness gap, relative to |output - base|, above which points are doubled; 0 never doubles", "",
                 0, 1);
    }
  };

  // An input error for a trapezoid of one point.
  explicit IntegratedGradients(const Options& options);
  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;

 private:
  Options options_;
};

MethodInfo integrated_gradients_method();

}  // namespace assay

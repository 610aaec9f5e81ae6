// Shapley values of a row from one design of pairs: Kernel SHAP's regression, or one of several with interactions,
// whichever fits the row best.
//
// The candidates are the additive regression (games/paired_regression.h) and regressions with interactions of few, some
// and many players (games/interaction_regression.h). Each predicts some of the row's pairs (probes, spread over the
// sizes that were sampled) from all others; the one with the least mean squared residual is taken, over the probes that
// the additive regression can predict; if these are fewer than four, it is not taken. Each row is judged on its own, so
// its values do not depend on other rows.
//
// The additive regression has the standard errors of its sample. With interactions, each player gets the larger of two
// errors, from the residuals r_k of n probes, each left out of the fit:
// - the standard deviation of the value given the pairs, at the scale s^2 = (sum over probes of r_k^2 / variance) /
//   (n - 2). Dividing by n - 2 instead of n gives Student's variance, because the scale is estimated. This error is
//   right for games that fit the prior;
// - Kernel SHAP's own error, with these residuals instead of its own: the squares of Q_ik r_k are summed as there (Q is
//   the matrix of the additive regression), times pairs / n for the pairs that are no probes, times n / (n - 2). This
//   error assumes nothing about the prior, so it also covers games that do not fit it, and the rounding of values.
// The first alone was too small where the prior did not fit (docs/methods/kernel_shap.md has the numbers).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/interaction_regression.h"
#include "assay/explain/games/paired_regression.h"

namespace assay {

class PairEstimator {
 public:
  // The most rows that are estimated together: the matrices are then read once for all of them.
  static constexpr size_t kTogether = 8;
  // With more pairs than this there are no interactions: they would take too much time and memory.
  static constexpr size_t kMostPairs = 4096;

  // Nothing when the pairs do not determine the values of all players.
  static std::optional<PairEstimator> make(PairDesign design, bool interactions, const Context& context);

  const PairedRegression& additive() const { return additive_; }
  // Writes values and standard errors (rows x players; errors are NaN where there are none). sides: the left sides,
  // rows x pairs, which are overwritten. totals: v(all) - v(none) of each row.
  void estimate(MatrixView<double> sides, std::span<const double> totals, MatrixView<double> values,
                MatrixView<double> errors) const;

 private:
  PairEstimator(PairedRegression additive, bool interactions, const Context& context);
  void weigh_misfit();
  // The candidate that fits a row best, and its scale. 0 is the additive one, 1 and above have interactions.
  struct Choice {
    size_t candidate = 0;
    double scale = 0;
  };
  Choice choose(std::span<const float> residuals) const;

  PairedRegression additive_;
  std::vector<size_t> probes_;
  std::vector<InteractionRegression> interactions_;
  // For every candidate and probe, the row that gives the left-out residual. float32 is enough for the choice, and
  // faster.
  Matrix left_out_;
  Matrix64 misfit_;  // players x probes: times squared residuals, it gives the variance of the second error above
};

}  // namespace assay

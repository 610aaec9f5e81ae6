// Shapley values of a row from one design of pairs: Kernel SHAP's regression, or one of several with interactions,
// whichever fits the row best.
//
// The candidates are the additive regression (games/paired_regression.h) and regressions with interactions of few, some
// and many players (games/interaction_regression.h). Each predicts some of the
// row's pairs (probes, spread over the sizes that were sampled) from all others; the least mean square of those
// residuals wins. The choice sees one row at a time, so no row's values depend on those beside it.
//
// Standard errors: of the additive regression, those of its sample. With interactions the larger of two, player by
// player, from the residuals r_k of n probes, each left out:
// - the standard deviation of the value given the pairs, at the scale s^2 = sum over probes of r_k^2 / variance, over
//   n - 2: how far off the process was where it could be seen. (A scale that is itself estimated makes the value
//   Student's, of variance n / (n - 2) times the normal's.) It is right for games that are as the prior says;
// - what Kernel SHAP's sample would leave of those residuals, Q_ik r_k summed in squares as in its own errors (Q is the
//   matrix of the additive regression), times pairs / n for the pairs that are no probes, and n / (n - 2). It asks
//   nothing of the prior, so it holds the misfit of a game that is not as smooth, or not as equal between players, as
//   the prior says, and the rounding of values where nothing else is left.
// Which of them is larger changes from game to game; the first alone was too small where the prior did not fit
// (docs/methods/kernel_shap.md has the numbers).
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
  // Rows that are estimated together, at most: what is read of the matrices then serves all of them.
  static constexpr size_t kTogether = 8;
  // Pairs beyond which interactions are left out, for the time and the memory that they would take.
  static constexpr size_t kMostPairs = 4096;

  // Nothing when the pairs do not determine the values of all players.
  static std::optional<PairEstimator> make(PairDesign design, bool interactions, const Context& context);

  const PairedRegression& additive() const { return additive_; }
  // Values and standard errors (rows x players; NaN where there are none) from left sides (rows x pairs, which are
  // overwritten) and v(all) - v(none) of each row.
  void estimate(MatrixView<double> sides, std::span<const double> totals, MatrixView<double> values,
                MatrixView<double> errors) const;

 private:
  PairEstimator(PairedRegression additive, bool interactions, const Context& context);
  void weigh_misfit();
  // The candidate that fits a row best, and its scale. 0 is additive, numbers from 1 on are with interactions.
  struct Choice {
    size_t candidate = 0;
    double scale = 0;
  };
  Choice choose(std::span<const float> residuals) const;

  PairedRegression additive_;
  std::vector<size_t> probes_;
  std::vector<InteractionRegression> interactions_;
  // Of every candidate and probe, what gives the left-out residual; float32 is enough to choose by, and half the time.
  Matrix left_out_;
  Matrix64 misfit_;  // players x probes: times squared residuals, the variance that the sample leaves of them
};

}  // namespace assay

// Shapley values of a row from one design of pairs: Kernel SHAP's regression, or one of several with interactions,
// whichever fits the row best.
//
// The candidates are the additive regression (games/paired_regression.h) and regressions with interactions of few, some
// and many players (games/interaction_regression.h); where pairs are few, also one that shrinks single players as much
// as interactions. Each predicts some of the row's pairs (probes, spread over the
// sizes that were sampled) from all others; the one with the least mean squared residual is taken, over the probes that
// the additive regression can predict; if these are fewer than four, it is not taken. Where the pairs are too few for a
// process of all triples, one with few triples of the row's own (games/triple_regression.h) is tried as well, unless
// the others leave no more than rounding. Each row is judged on its own, so its values do not depend on other rows.
//
// The additive regression has the standard errors of its sample. With interactions, the squared error of a player's
// value is the sum of two parts, from the residuals r_k of pairs that are left out of the fit:
// - the variance of the value given the pairs, at the scale s^2 = (sum over n probes of r_k^2 / variance) / (n - 2).
//   Dividing by n - 2 instead of n gives Student's variance, because the scale is estimated. This part is right for
//   games that fit the prior, all players alike;
// - half of the larger of two estimates that assume nothing about the prior, with Q the matrix of the additive
//   regression: the square of sum over all sampled pairs of Q_ik r_k, which is what the additive regression makes of
//   the residuals, and so an estimate of the value's own error; and the variance of that estimate over samples, as
//   Kernel SHAP has it of its own residuals: squares of Q_ik r_k over the probes, times pairs / n for the pairs that
//   are no probes, times n / (n - 2). The first tells of players for which the prior does not fit, the second is never
//   so small by chance.
// Half, because the estimates have an error of their own, as large as the second. docs/methods/kernel_shap.md has the
// shares of intervals that held the exact value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/interaction_regression.h"
#include "assay/explain/games/paired_regression.h"
#include "assay/explain/games/triple_regression.h"

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
  // The candidate that fits a row best, its scale and its sum of squared residuals. 0 is the additive one, 1 and above
  // have interactions.
  struct Choice {
    size_t candidate = 0;
    double scale = 0;
    double square = 0;
  };
  Choice choose(std::span<const float> residuals) const;
  // Of a row with interactions, from the residuals of its probes, the variances of its values for a game of scale 1 and
  // the estimates of their own errors, which the errors replace.
  void store_errors(std::span<const double> residuals, double scale, std::span<const double> variances,
                    std::span<double> errors) const;
  // Replaces values, and finds errors, of rows that fit better with triples of their own; says which.
  std::vector<uint8_t> try_triples(MatrixView<const double> sides, std::span<const double> totals,
                                   std::span<const Choice> choices, MatrixView<double> values,
                                   MatrixView<double> errors) const;

  PairedRegression additive_;
  std::vector<size_t> probes_;
  std::vector<uint8_t> foretold_;  // of each probe, whether candidates are compared on it
  std::vector<InteractionRegression> interactions_;
  std::optional<TripleRegression> triples_;
  // For every candidate and probe, the row that gives the left-out residual. float32 is enough for the choice, and
  // faster.
  Matrix left_out_;
  Matrix64 misfit_;  // players x probes: times squared residuals, it gives the variance of the own error
};

}  // namespace assay

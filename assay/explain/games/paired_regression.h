// Kernel SHAP's regression on complementary pairs of coalitions, for one design that all rows share.
//
// Kernel SHAP (Lundberg and Lee 2017) minimises, over phi with sum_i phi_i = D = v(N) - v(empty),
//
//   sum_S mu(S) (v(S) - v(empty) - phi(S))^2,   mu(S) = (d - 1) / (C(d, k) k (d - k)),  k = |S|,  phi(S) = sum_{i in S}
//   phi_i.
//
// S and N \ S have one weight, and phi(N \ S) = D - phi(S). With a = v(S) - v(empty) and b = v(N) - v(N \ S) their two
// squares are (a - phi(S))^2 + (b - phi(S))^2 = 2 (phi(S) - (a + b) / 2)^2 + const, and (a + b) / 2 = y_S + D / 2 with
// y_S = (v(S) - v(N \ S)) / 2. So a pair is one observation y_S of phi(S) - D / 2 = sum_i phi_i (z_i - 1/2), z = 1 on
// S. Setting phi_i = D / d + psi_i, sum_i psi_i = 0, it is
//
//   y_S - D (k / d - 1/2)  =  sum_i psi_i (z_i - k / d).
//
// The entries of each regressor sum to 0. So one more observation, with equal entries and the value 0, is orthogonal to
// all others and enforces the constraint, whatever its weight. psi then comes from plain weighted least squares
// (games/least_squares.h): a fixed matrix Q times the left sides.
//
// Standard errors: pairs of a stratum are drawn without replacement and its pairs share one weight, so with residuals
// e_p the estimate's error is, to first order, that of a stratified sample of t_p = Q_ip e_p (a sandwich):
// Var_i = sum over strata of (1 - n / N) n / (n - 1) sum_p (t_p - mean)^2. Residuals are corrected for their leverage
// (ResidualScales of games/least_squares.h). Strata that were taken whole have no error. Intervals use normal
// quantiles. A fit with d - 1 free values leaves pairs - d + 1 degrees of freedom for the errors; with fewer than 5
// there are no errors.
//
// Cost for a row: 2 d multiplications for each pair, half of them for the errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assay/explain/games/coalition_design.h"
#include "assay/explain/games/least_squares.h"

namespace assay {

class PairedRegression {
 public:
  // Nothing when the pairs do not determine the values of all players.
  static std::optional<PairedRegression> make(PairDesign design, const Context& context);

  size_t pairs() const { return leverage_.size(); }
  const PairDesign& design() const { return design_; }
  // players x pairs: times the left sides, it gives each value less the equal share.
  const Matrix64& solver() const { return solver_; }

  // From the values of the design's coalitions: the left side of each pair. Returns v(N) - v(empty).
  double left_sides(std::span<const float> values, std::span<double> sides) const;
  // phi of each player from left sides; they sum to `total`.
  void fit(std::span<const double> sides, double total, std::span<double> phi) const;
  // For each of these pairs a row of numbers. Times the left sides, it gives the pair's residual in the fit to all
  // other pairs; NaN where the others do not determine the fit.
  Matrix64 left_out(std::span<const size_t> pairs) const;
  // Whether there are enough pairs for standard errors, or none are needed because all strata were taken whole.
  bool has_errors() const { return strata_.empty() || pairs() >= least_pairs_for_errors(solver_.rows()); }
  static size_t least_pairs_for_errors(size_t players) { return players + 4; }
  // The standard error of each player's phi; NaN where there are none. The left sides become residuals.
  void standard_errors(std::span<double> sides, std::span<const double> phi, std::span<double> errors) const;

 private:
  PairedRegression(PairDesign design, SharedFit fit);

  PairDesign design_;
  Matrix64 solver_;               // players x pairs
  std::vector<double> leverage_;  // of each pair
  std::vector<double> expected_;  // of each pair, k / d - 1/2
  std::vector<Stratum> strata_;   // those that were not taken whole
  ResidualScales scales_;         // of the pairs from the first of strata_ on
  std::vector<uint8_t> bytes_;    // players 8 b .. 8 b + 7 of pair p, at b * pairs + p
};

// Adds the same number to all values so that they sum to `total`.
void share_rest(double total, std::span<double> values);

}  // namespace assay

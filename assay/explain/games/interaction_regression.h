// Shapley values from pairs of coalitions, with interactions: a Gaussian process on the odd part of a game.
//
// With x_i = 1 for players of S and -1 for others, a game is a sum over sets T of players, v(S) = sum_T c_T x^T,
// x^T = product of x_i over T. T's players share its worth, v(all) - v(none), equally by symmetry: 2 c_T / |T| each
// where |T| is odd and nothing where it is even. So the Shapley values are
//
//   phi_i = sum over odd T with i of 2 c_T / |T|,
//
// and a pair of complementary coalitions tells the odd part alone: y_S = (v(S) - v(N \ S)) / 2 = sum over odd T c_T
// x^T. Kernel SHAP (games/paired_regression.h) fits the single players of that sum and takes the rest for noise. Here
// all c_T of odd T have a normal prior of variance q^|T|, q = order / d, and the estimate is the mean of phi given the
// y_S. It reproduces the evaluated pairs, and is as smooth between them as the prior. Single players have a variance
// larger by a factor of 100, so that they are hardly shrunk. Sums over all T have closed forms, with h the number of
// players in which two coalitions differ, and a and b the numbers of other players i with x_i = 1 and x_i = -1:
//
//   Cov(y, y') = ((1 + q)^(d-h) (1 - q)^h - (1 - q)^(d-h) (1 + q)^h) / 2
//   Cov(phi_i, y) = 2 q x_i * integral over t in [0, 1] of ((1 + q t)^a (1 - q t)^b + (1 - q t)^a (1 + q t)^b) / 2
//
// (plus the single players' part). All rows share one design, so the estimate is a fixed matrix times a row's left
// sides (those of games/paired_regression.h: what a pair is beyond an equal share of v(all) - v(none) for every
// player).
//
// How well it fits a row is judged by leaving out one pair at a time. With K the covariance matrix of the y_S, the
// residual of pair p is (K^-1 y)_p / (K^-1)_pp, with variance 1 / (K^-1)_pp times the scale of the row's game. Some
// pairs (probes) are enough for that; each costs as much as one player.
//
// Regression on odd interactions is due to Fumagalli et al. (2026, "OddSHAP"), who select a sparse set of them row by
// row; that kernels of Hamming distance give Shapley values in closed form to Rundel et al. (2026, "ShaplEIG").
//
// Cost: pairs^3 / 6 multiplications once for a design, then pairs x (players + probes) for a row; memory while solving:
// 8 bytes x pairs^2.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/cholesky.h"
#include "assay/explain/games/coalition_design.h"

namespace assay {

struct ProcessPrior {
  ProcessPrior(double order_, double singles_ = 100) : order(order_), singles(singles_) {}
  double order;    // about how many players take part in an interaction
  double singles;  // how much more the values of single players may vary than those of interactions, after their order
};

// What a row's own fit needs beside (games/triple_regression.h). Its columns are those of K: the pair of all players
// and none, whose left side is 0, then the design's pairs.
struct SolvedProcess {
  CholeskySolver solver;
  Matrix64 values;                // players x columns of K
  Matrix64 probes;                // probes x columns of K: their rows of K^-1
  double triple = 0;              // the prior variance of an interaction of three
  std::vector<double> variances;  // of the players' values given the pairs
};

class InteractionRegression {
 public:
  // `probes`: indices of the pairs that are probes. Where these are given, `influence` (players x pairs) is what
  // own_errors() weighs residuals by, and `solved` is filled if the regression is usable.
  InteractionRegression(const PairDesign& design, const ProcessPrior& prior, std::span<const size_t> probes,
                        const Context& context, const Matrix64* influence = nullptr, SolvedProcess* solved = nullptr);

  // False if the factorisation failed because of rounding; then nothing below may be used.
  bool usable() const { return !values_.empty(); }
  // players x pairs: times the left sides of a row, it gives each value less the equal share.
  const Matrix64& values() const { return values_; }
  // probes x pairs: times the left sides, it gives the residual of each probe when that is left out.
  const Matrix64& left_out() const { return left_out_; }
  // The variance of a probe's residual, for a game of scale 1.
  double left_out_variance(size_t probe) const { return left_out_variances_[probe]; }
  // players x pairs: times the left sides, it gives the sum over pairs of influence times the residual of the pair when
  // that is left out. (K^-1)_pp is taken from the probe nearest to p: sizes are side by side, and it varies little
  // within one.
  const Matrix64& own_errors() const { return own_errors_; }
  // The variance of a player's value given the pairs, for a game of scale 1.
  double variance(size_t player) const { return variances_[player]; }
  std::span<const double> variances() const { return variances_; }

 private:
  Matrix64 values_;
  Matrix64 left_out_;
  Matrix64 own_errors_;
  std::vector<double> left_out_variances_;
  std::vector<double> variances_;
};

// For each pair the number of the probe nearest to it. Probes are in ascending order.
std::vector<size_t> nearest_probes(size_t pairs, std::span<const size_t> probes);

}  // namespace assay

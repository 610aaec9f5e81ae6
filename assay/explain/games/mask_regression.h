// The ridge regression of values on masks that LIME fits, for one list of masks that all rows share.
//
// z_s are the 0 / 1 entries of mask s, w_s is its weight exp(-(players absent) / width^2), and z-bar the weighted mean
// of all z_s. The coefficients are
//
//   beta = (X' W X + ridge)^-1 X' W y,   X = z - z-bar,
//
// where the intercept is not penalised. Values are centred first: the first value is subtracted, then their weighted
// mean. So equal values give coefficients of exactly 0, and a large constant leaves no rounding in them.
//
// With more masks than players that is solved as it stands (games/least_squares.h). With fewer, in its dual form
//
//   beta = A' (A A' + ridge)^-1 W^1/2 y,   A = W^1/2 X,
//
// whose system has a row for each mask instead of each player. A A' comes from counts of players that two masks share.
// Both give the same numbers, up to float64 rounding.
//
// Standard errors say how far coefficients would move with other draws of the masks and the same ridge. The variance is
// the sum over drawn masks of (t_s - mean of t)^2, t_s = Q_is e_s (a sandwich). Q is the matrix from values to
// coefficients; e_s is the residual of mask s when it is left out of the fit: its residual / (1 - leverage). That is
// the jackknife, which is too large: leaving out one of few masks moves a fit more than one more draw would. With H the
// hat matrix, N = max(masks, players + 1) and free = N - trace(H^2), the variance is multiplied by
//
//   free / N * free / (free - 2).
//
// The first factor is 1 - players / masks without a ridge, as for residuals of the same size everywhere. With few masks
// and a small ridge it is 1 - masks / players: coefficients are then the part of beta in the space that the masks span,
// and the factor is that of a space of random direction. In between it was only tested. The second factor is Student's
// variance over the normal one, so that value +- 1.96 errors is a 95 % interval. Tested on networks, steps, sparse
// games and sums of products of 5 to 300 players, with a third to eight times as many masks as players, and ridges of
// 0, 0.1 and 1: the intervals hold the mean over seeds in 89 to 98 % of the cases. With fewer than 16 masks, or free <
// 5, it was 80 to 90 %: then no errors are given.
//
// Cost: masks x players x min(masks, players) multiplications once, on all threads; masks x players for the
// coefficients of a row, as much again for its errors. Memory in bytes: 8 x (masks x players + 2 masks^2) in the dual
// form, else 8 x (3 masks x players + 2 players^2).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/least_squares.h"

namespace assay {

enum class MaskForm { best, by_players, by_masks };

struct MaskWeights {
  double width = 1;  // of the kernel
  double ridge = 1;
  double draws = 1;  // how many draws each mask stands for
};

class MaskRegression {
 public:
  // All masks but the first are random draws. MaskForm::by_masks needs a ridge above 0. An input error where the masks
  // do not determine the coefficients.
  MaskRegression(const Coalitions& masks, const MaskWeights& weights, const Context& context,
                 MaskForm form = MaskForm::best);

  // How many float64 numbers it keeps for this many masks and players; may be more than fits in memory. While solving
  // it takes masks x players + players^2 more, except in the dual form.
  static double size(size_t masks, size_t players);
  // With this many masks there are errors, whatever the ridge and the draws.
  static size_t enough_for_errors(size_t players);

  size_t masks() const { return masks_; }
  bool has_errors() const { return error_factor_ > 0; }
  // Subtracts the first value, then the weighted mean.
  void centre(std::span<double> values) const;
  void coefficients(std::span<const double> centred, std::span<double> out) const;
  // Standard errors of the coefficients that these values give; NaN without has_errors().
  void errors(std::span<const double> centred, std::span<const double> coefficients, std::span<float> out) const;

 private:
  void weigh(const Coalitions& masks, const MaskWeights& weights, const Context& context);
  // False where the masks do not determine the coefficients.
  bool solve_by_players(const Coalitions& masks, double ridge, const Context& context);
  bool solve_by_masks(const Coalitions& masks, double ridge, const Context& context);
  void set_error_factor(double trace_of_squared_hat);
  MatrixView<const double> solver() const;
  // For each mask but the first: its residual when it is left out of the fit.
  void left_out(std::span<const double> centred, std::span<const double> coefficients, std::span<double> out) const;

  size_t masks_;
  size_t players_;
  std::vector<double> weights_;
  double total_ = 0;              // of the weights
  std::vector<double> centres_;   // weighted mean of each player's entries
  Matrix64 regressors_ = {};      // by players: masks x players, centred
  Matrix64 system_ = {};          // by players: the solver; by masks: three parts, see solve_by_masks
  std::vector<double> own_ = {};  // what a residual is divided by; 0 where the fit goes through the mask
  double error_factor_ = 0;       // of a variance; 0 where there are no errors
};

}  // namespace assay

// A ridge regression of values on masks, for one list of masks that all rows share: what LIME fits.
//
// With z_s the 0 / 1 entries of mask s, w_s its weight exp(-(players absent) / width^2) and z-bar the weighted mean of
// all z_s, the coefficients are
//
//   beta = (X' W X + ridge)^-1 X' W y,   X = z - z-bar,
//
// the intercept not penalised. Values are centred first: the first of them is taken off, then their weighted mean. So
// values that are all the same give coefficients of exactly 0, and no large value leaves its rounding in them.
//
// With more masks than players that is solved as it stands (games/least_squares.h). With fewer, in its dual form
//
//   beta = A' (A A' + ridge)^-1 W^1/2 y,   A = W^1/2 X,
//
// whose system has a row for each mask instead of each player. A A' comes from counts of players that two masks share.
// Both give the same numbers, up to float64 rounding.
//
// Standard errors: how far coefficients would move with other draws of the masks, the ridge as it is. Sandwich over the
// drawn masks: the sum of squares of t_s = Q_is e_s around their mean, where Q is the matrix that takes values to
// coefficients and e_s the residual of mask s when it is left out of the fit, its residual over 1 - leverage. That is
// the jackknife, which is too large: leaving one of few masks out moves a fit more than one more draw would. With H the
// hat matrix, free = max(masks, players + 1) - trace(H^2) and N = max(masks, players + 1), the variance is multiplied
// by
//
//   free / N * free / (free - 2).
//
// The first factor is 1 - players / masks without a ridge (that of residuals of the same size everywhere), and
// 1 - masks / players where masks are few and the ridge small: coefficients are then the part of beta in the space that
// the masks span, and the factor follows for a space of random direction. In between it is a guess that was measured.
// The second is that of Student's variance to the normal one, so that value +- 1.96 errors means what it says. Measured
// over networks, steps, sparse games and sums of products of 5 to 300 players, with a third to eight times as many
// masks, and ridges of 0, 0.1 and 1: such intervals hold the mean over seeds in 89 to 98 % of the cases, but in 80 to
// 90 % with fewer than 16 masks or 5 free ones, where there are no errors.
//
// Cost: masks x players x min(masks, players) multiplications once, on all threads; masks x players for the
// coefficients of a row, as much again for its errors. Memory: 8 bytes for each mask and player, and for each pair of
// masks twice (dual), or three times that and for each pair of players twice (else).
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
  double draws = 1;  // that each mask stands for
};

class MaskRegression {
 public:
  // The first mask of a list is no draw, all others are. By masks needs a ridge above 0. An input error where the masks
  // do not determine the coefficients.
  MaskRegression(const Coalitions& masks, const MaskWeights& weights, const Context& context,
                 MaskForm form = MaskForm::best);

  // Numbers of float64 that it keeps for so many masks and players; may be beyond any memory. Solving takes
  // masks x players + players^2 more for a while, unless in the dual form.
  static double size(size_t masks, size_t players);
  // Masks that have errors whatever the ridge and the draws.
  static size_t enough_for_errors(size_t players);

  size_t masks() const { return masks_; }
  bool has_errors() const { return error_factor_ > 0; }
  // Takes off the first value and then the weighted mean.
  void centre(std::span<double> values) const;
  void coefficients(std::span<const double> centred, std::span<double> out) const;
  // Of the coefficients, which are those of these values; NaN where there are none.
  void errors(std::span<const double> centred, std::span<const double> coefficients, std::span<float> out) const;

 private:
  void weigh(const Coalitions& masks, const MaskWeights& weights, const Context& context);
  // False where the masks do not determine the coefficients.
  bool solve_by_players(const Coalitions& masks, double ridge, const Context& context);
  bool solve_by_masks(const Coalitions& masks, double ridge, const Context& context);
  void set_error_factor(double trace_of_squared_hat);
  MatrixView<const double> solver() const;
  // Residuals of masks that are left out, of all but the first mask.
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

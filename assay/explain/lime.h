// LIME for tables (Ribeiro, Singh, Guestrin 2016): the coefficients of a linear model of the value near the row.
//
// A mask z has z_i = 1 where player i is as in the row and 0 where it is as in the reference; v(z) is the explained
// value there. The weight of a mask is pi(z) = exp(-(players absent in z) / width^2) = exp(-D^2 / width^2), with D the
// Euclidean distance of z from the mask of all ones. The values are the coefficients beta of
//   minimise  sum over masks z of pi(z) (v(z) - beta_0 - beta . z)^2 + ridge * |beta|^2,
// where the intercept beta_0 is not penalised. The masks are all ones, then `samples` - 1 draws that keep every player
// with probability 1/2, the same for all rows. If `samples` is at least 2^players, all masks are used, each with the
// weight of samples / 2^players draws, and there is no sampling error. Otherwise standard errors say how far the
// penalised coefficients would move with other draws; with too few masks (games/mask_regression.h) they are NaN, and a
// note says so. With ridge=0 a design that does not determine the coefficients is refused.
//
// Values are exactly 0 for all players if v is the same at all masks, up to Game::rounding(); for a player whose cells
// equal those of all reference rows (games/varying_players.h); and, with all masks, for a player who changes no v.
//
// The width 0.75 sqrt(players) and ridge 1 are those of the lime package. The kernel is the paper's; the package takes
// its square root, which is the same as a width sqrt(2) times as large. Deviations: the package cuts numbers at
// quartiles and replaces a feature by draws from its training distribution, so its masks mean "in the same quarter".
// Here a mask means the row's own value or the reference's. With a background, values are means over its rows, with
// their standard error. All players get a coefficient: there is no selection of the largest ones. The ridge weighs as
// much as one mask of weight 1, so it shrinks coefficients less with more samples.
//
// Values have the unit of the output but do not sum to output - base.
// Cost: `samples` evaluations for each row and reference row; one regression for all rows, with as many equations as
// players or samples, whichever are fewer; then a few products of players x samples for a row.
#pragma once

#include <cstdint>

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

struct LimeOptions {
  int64_t samples = 2048;
  double width = 0;
  double ridge = 1;
  void describe(OptionVisitor& visit) {
    visit.integer("samples", samples, "masks that the linear model is fitted to", "evaluations", 2, 10'000'000);
    visit.real("width", width, "width of the kernel in mask distance; 0 = 0.75 sqrt(players)", "", 0, 1e6);
    visit.real("ridge", ridge, "penalty on the squared coefficients", "", 0, 1e12);
  }
};

// LIME for any game, without the rule on equal cells. An input error where the design does not determine the
// coefficients. designs: ExplainTask::designs.
void lime(const Game& game, const LimeOptions& options, Attributions& out, const Context& context,
          Kept* designs = nullptr);

}  // namespace assay

// LIME for tables (Ribeiro, Singh, Guestrin 2016): the coefficients of a linear model of the value near the row.
//
// A mask z has z_i = 1 where player i is as in the row and 0 where it is as in the reference; v(z) is the explained
// value there. With weights pi(z) = exp(-(players absent in z) / width^2), that is exp(-D^2 / width^2) for the
// Euclidean distance D of z from the row's own mask of ones, the values are the coefficients beta of
//   minimise  sum over masks z of pi(z) (v(z) - beta_0 - beta . z)^2 + ridge * |beta|^2,
// the intercept beta_0 not penalised. Masks: that of all ones, then `samples` - 1 draws which keep every player with
// probability 1/2, the same for all rows; where `samples` covers them, all 2^players masks, each in place of
// samples / 2^players draws, and then there is no sampling error. Else standard errors say how far the penalised
// coefficients would move with other draws (games/mask_regression.h, which also says how many masks they need; with
// fewer they are NaN, and a note says so). With ridge=0 a design that does not determine the coefficients is refused.
//
// Exactly 0 are: all players where the value is the same at all masks, up to Game::rounding(); a player whose cells are
// those of all reference rows (games/varying_players.h); and with all masks a player with whom no value changes.
//
// Kept from the lime package: the width 0.75 sqrt(players), ridge 1. The kernel is the paper's; the package takes its
// root, which is the same as a width sqrt(2) times as large. Deviations: it cuts numbers at
// quartiles and replaces a feature by draws from its training distribution, so that its masks mean "in the same
// quarter"; here a mask means the row's own value or the reference's, and a background gives draws from the data, the
// mean over its rows and that mean's standard error. All players get a coefficient: no selection of the largest ones.
// The ridge is as heavy as one mask of weight 1, so it shrinks less with more samples.
//
// Values have the unit of the output but do not sum to output - base.
// Cost: `samples` evaluations for each row and reference row; one regression for all rows, of a system with a row for
// each player or for each sample, whichever are fewer; then a few products of players x samples for a row.
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

// The values of any game, where cells are not seen. An input error where the design does not determine the
// coefficients.
void lime(const Game& game, const LimeOptions& options, Attributions& out, const Context& context);

}  // namespace assay

// Exact Shapley values (Shapley 1953): the mean, over all orders of the players, of what a player adds when it joins
// those before it.
//
//   phi_i = sum over S without i of |S|! (d - |S| - 1)! / d! * (v(S + i) - v(S))
//
// v(S) is the explained value with the players of S as in the row and all others as in the reference (games/game.h). A
// background of several rows gives the mean of the values against each, and its standard error as background error.
//
// Cost: 2^d evaluations for each row and reference row, d = number of players, at most 24. No sampling error: values
// sum to output - base up to float64 rounding of the game's values (and float32 storage of the result).
#pragma once

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

// The values of any game of 1 to 24 players.
void exact_shapley(const Game& game, Attributions& out, const Context& context);

}  // namespace assay

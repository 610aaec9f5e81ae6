// Occlusion: what the value loses when one player alone is absent (Zeiler, Fergus 2014),
//   phi_i = v(N) - v(N without i),
// with v(S) the explained value when the players of S are as in the row and all others as in the reference.
//
// A background of several rows gives the mean over them, and its standard error as background error. The values do not
// sum to output - base: a joint effect of players is counted for each of them, or for none.
// Deviation from the paper: it slides a grey square over an image; here the squares are the players (grid groups), and
// grey is the reference.
// Cost: players + 1 evaluations for each row and reference row.
#pragma once

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

// The values of any game.
void occlusion(const Game& game, Attributions& out, const Context& context);

}  // namespace assay

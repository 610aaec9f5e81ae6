// Shapley values by sampling permutations (Castro, Gomez, Tejada 2009; Strumbelj and Kononenko 2010, the paper's "SS").
//
//   phi_i = mean over sampled orders of the players of v(those before i, and i) - v(those before i)
//
// Antithetic: each order comes with its reverse (Mitchell, Cooper, Frank, Holmes 2022), so that what i adds to a small
// coalition is seen beside what it adds to the large one that is left; interactions of pairs of players then cancel. In
// each order what players add telescopes, so values sum to output - base exactly, whatever the sample.
//
// Standard errors: sd / sqrt(n) over the n independent units, pairs of orders (or orders, when not antithetic); with n
// that small take Student's quantiles of n - 1 degrees for intervals. One unit has no error: NaN, and a note. All rows
// share the orders. A background of several rows gives the mean over them, and its own error; the sampling error is
// that of the mean. What a player adds is rounded to float32, as values are; sums over orders are float64.
//
// A player whose cells are those of the reference has the value 0 and is left out (games/varying_players.h).
//
// Cost: permutations * (d - 1) + 2 evaluations for each row and reference row, d the players that vary. Any number of
// players.
#pragma once

#include <cstdint>

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

struct ShapleySamplingOptions {
  int64_t permutations = 32;
  bool antithetic = true;
  void describe(OptionVisitor& visit) {
    visit.integer("permutations", permutations, "orders of the players, reverses included", "", 1, 1'000'000);
    visit.flag("antithetic", antithetic, "each order with its reverse");
  }
};

// The values of any game.
void shapley_sampling(const Game& game, const ShapleySamplingOptions& options, Attributions& out,
                      const Context& context);

// What the method will count for these rows: known without running it, for whoever asks whether it is worth while.
uint64_t shapley_sampling_evaluations(const ExplainTask& task, const ShapleySamplingOptions& options);

}  // namespace assay

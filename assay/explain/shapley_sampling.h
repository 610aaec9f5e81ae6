// Shapley values by sampling permutations (Castro, Gomez, Tejada 2009; Strumbelj and Kononenko 2010, the paper's "SS").
//
//   phi_i = mean over sampled orders of the players of v(those before i, and i) - v(those before i)
//
// Antithetic: each order comes with its reverse (Mitchell, Cooper, Frank, Holmes 2022). So what i adds to a small
// coalition is averaged with what it adds to the large one of all others; errors from interactions of two players then
// cancel. Along each order, what the players add sums to output - base, so the values do too, exactly.
//
// Standard errors: sd / sqrt(n) over n independent units: pairs of orders, or single orders when not antithetic. As n
// is small, intervals need Student's quantiles of n - 1 degrees of freedom. With one unit the error is NaN, and a note
// says so. All rows share the orders. A background of several rows gives the mean over them, and its own error; the
// sampling error is that of the mean. What a player adds is rounded to float32, as values are; sums over orders are
// float64.
//
// A player whose cells equal those of the reference has the value 0 and is left out (games/varying_players.h).
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

// The evaluations that the method will count for this task, without running it; for planning.
uint64_t shapley_sampling_evaluations(const ExplainTask& task, const ShapleySamplingOptions& options);

}  // namespace assay

// Kernel SHAP (Lundberg and Lee 2017): Shapley values by regression over a sample of coalitions.
//
// Coalitions come in complementary pairs (Covert and Lee 2021), stratified by size: small sizes are taken whole, the
// others are drawn without replacement (games/coalition_design.h). `sampling` says how many pairs a size gets. The
// published regression is additive: weighted least squares with the constraint that values sum to output - base, solved
// in float64 (games/paired_regression.h). There is no large weight for the constraint, no ridge and no L1 selection of
// features, because these change values. A design that does not determine all values is refused.
//
// With `interactions` (the default) a row's values come from the regression that best predicts its own pairs when they
// are left out: the additive one, or one of up to five with interactions of players (games/pair_estimator.h,
// games/interaction_regression.h, games/triple_regression.h). All estimate the same Shapley values, and are exact when
// all coalitions are evaluated. On networks and boosters of 14 and 17 features, from 256 evaluations on, interactions
// make the mean squared error 2 to 400 times smaller; where values jump irregularly, it is about the same
// (docs/benchmarks.md). Interactions are fitted to at most 8,194 samples: more are not taken, and a note says so.
//
// A player whose cells equal those of the reference has the value 0 and is left out (games/varying_players.h). If the
// samples cover all coalitions of a row's other players, the row is exact; else its design is for the players that
// vary. With a tolerance, rows that are not exact share the design of all players, and the values of players that do
// not vary are estimates of 0.
//
// All rows with the same number of players share one design and its factorisations, so after the evaluations a row
// costs a few matrix-vector products.
//
// Of the three samplings, balanced had the least mean squared error, or nearly, on random networks of 14 and 20 players
// with 60 to 20,000 samples; mostly they differ by a few per cent.
//
// Standard errors of the additive regression are those of sampling coalitions; with interactions see
// games/pair_estimator.h. Below 2 d + 10 samples (d + 4 pairs for d - 1 free values) they are NaN, and a note says so.
// For example, 4 players have no errors with fewer than all 16 coalitions. docs/methods/kernel_shap.md says how often
// value +- 1.96 errors held the exact value. A background of several rows gives the mean over them, and its own error.
//
// A budget of 2^d or more gives exact values from all coalitions, with errors of 0. With a tolerance, the first round
// has at least 2 (2 d + 2) samples (if most_samples allows). Rows with an error above the tolerance, or with a NaN
// error of a value that is a number, are done again with twice the samples, up to most_samples. Rounds that are too
// large for interactions replace values only if they lower the row's largest error.
//
// Cost: `samples` evaluations for each row and reference row, the empty and the full coalition included; with a
// tolerance the sum over the rounds. Interactions take another samples^3 / 16 + (d + 32) samples^2 multiplications,
// about, for each design, whatever the number of rows. Memory: 8 bytes for each player and pair, three times that while
// solving; with interactions four times that, and 2 x samples^2 bytes while solving.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/refusal.h"
#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

struct KernelShapOptions {
  int64_t samples = 2048;
  std::string sampling = "balanced";
  bool interactions = true;
  double tolerance = 0;
  int64_t most_samples = 65536;
  void describe(OptionVisitor& visit) {
    visit.integer("samples", samples, "coalitions for each row", "evaluations", 1, 1 << 20);
    visit.choice("sampling", sampling, "how coalitions are shared out to sizes", {"balanced", "kernel", "leverage"});
    visit.flag("interactions", interactions,
               "fit interactions of players too, where that predicts a row's pairs better");
    visit.real("tolerance", tolerance, "more samples until no standard error of a row is above this; 0: no more",
               "of the explained value", 0, 1e300);
    visit.integer("most_samples", most_samples, "where rows stop that do not reach the tolerance", "evaluations", 1,
                  1 << 20);
  }
};

// Why these options cannot be used for this many players, in the form of Explainer::refuses.
std::optional<Refusal> kernel_shap_refuses(size_t players, const KernelShapOptions& options);

// Kernel SHAP for any game. An input error when the sample does not determine all values.
void kernel_shap(const Game& game, const KernelShapOptions& options, Attributions& out, const Context& context);

}  // namespace assay

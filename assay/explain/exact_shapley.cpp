#include "assay/explain/exact_shapley.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/explain/games/play.h"
#include "assay/explain/games/shapley_fold.h"

namespace assay {
namespace {

std::optional<Refusal> refuses_many_players(const ExplainTask& task) {
  const size_t players = task.players.size();
  if (players <= kMostExactPlayers) return {};
  return fmt::format(
      "needs all 2^d coalitions of d players, at most {} players, and there are {}: group features, or use "
      "kernel_shap",
      kMostExactPlayers, players);
}

std::optional<uint64_t> all_coalitions(const ExplainTask& task, const NoOptions& /*options*/) {
  return (uint64_t{1} << std::min(task.players.size(), kMostExactPlayers)) * task.rows.rows() *
         task.reference.rows.rows();
}

void attribute_exactly(const ExplainTask& task, const NoOptions& /*options*/, Attributions& out,
                       const Context& context) {
  exact_shapley(*make_game(task, context), out, context);
}

}  // namespace

void exact_shapley(const Game& game, Attributions& out, const Context& context) {
  if (game.references() > 1) out.background_error = Matrix(game.rows(), game.players());
  play_all_coalitions(game, all_rows(game.rows()), out, context);
}

MethodInfo exact_shapley_method() {
  return with_options<AttributedBy<attribute_exactly, refuses_many_players, all_coalitions>>(
      {.name = "exact_shapley",
       .title = "Shapley values from all coalitions of up to 24 players",
       .citation = "Shapley (1953)",
       .cost = "2^d for d players, times the reference rows",
       .complete = true,
       .uses_reference = true,
       .sampled = false,
       .same_as = "tree_shap",
       .shapley = true});
}

}  // namespace assay

#include "assay/explain/occlusion.h"

#include <optional>
#include <string>
#include <vector>

#include "assay/explain/common.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

// All players, then all but each.
Coalitions all_but_one(size_t players) {
  Coalitions made(players);
  const std::vector<uint64_t> none(made.words(), 0);
  Coalitions empty(players);
  empty.add(none);
  const std::vector<uint64_t> all = empty.complement(0);
  made.add(all);
  for (size_t i = 0; i < players; i++) {
    std::vector<uint64_t> others = all;
    others[i / 64] &= ~(uint64_t{1} << i % 64);
    made.add(others);
  }
  return made;
}

class Occlusion final : public Explainer {
 public:
  using Options = NoOptions;

  explicit Occlusion(const Options& /*options*/) {}
  std::optional<Refusal> refuses(const ExplainTask& /*task*/) const override { return {}; }

  std::optional<uint64_t> known_evaluations(const ExplainTask& task) const override {
    return task.rows.rows() * (task.players.size() + 1) * task.reference.rows.rows();
  }
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override {
    occlusion(*make_game(task, context), out, context);
  }
};

}  // namespace

void occlusion(const Game& game, Attributions& out, const Context& context) {
  const size_t players = game.players();
  const std::vector<Coalitions> design = {all_but_one(players)};
  if (game.references() > 1) out.background_error = Matrix(game.rows(), players);
  play(
      game, all_rows(game.rows()), design, context, "occlusion",
      [&](size_t /*row*/) { return VectorMoments(players, game.strata()); },
      [&](VectorMoments& moments, size_t /*row*/, size_t /*reference*/, size_t /*part*/, std::span<const float> found) {
        std::vector<double> losses(players);
        for (size_t i = 0; i < players; i++) losses[i] = static_cast<double>(found[0]) - found[i + 1];
        moments.add(losses);
      },
      [&](const VectorMoments& moments, size_t row) {
        moments.store(out.values.row(row), game.references() > 1 ? out.background_error.row(row) : std::span<float>());
      });
  out.evaluations += game.rows() * game.references() * (players + 1);
}

MethodInfo occlusion_method() {
  return with_options<Occlusion>({.name = "occlusion",
                                  .title = "What the output loses when the feature alone is replaced by the reference",
                                  .citation = "Zeiler, Fergus (2014)",
                                  .cost = "features + 1 evaluations for each reference row",
                                  .uses_reference = true});
}

}  // namespace assay

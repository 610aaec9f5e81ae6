#include <algorithm>
#include <cmath>

#include "assay/explain/games/game.h"
#include "assay/explain/games/makers.h"

namespace assay {
namespace {

bool all_finite(MatrixView<const float> rows) {
  for (size_t r = 0; r < rows.rows(); r++) {
    const auto row = rows.row(r);
    if (!std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); })) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<Game> make_game(const ExplainTask& task, const Context& context) {
  if (auto game = make_tree_game(task, context); game != nullptr) return game;
  const AffineEntry* entry = task.model.affine_entry();
  // Differences that are not finite would reach coalitions that do not have them.
  const bool finite = entry != nullptr && all_finite(entry->weights()) &&
                      all_finite({entry->bias().data(), 1, entry->bias().size()}) && all_finite(task.rows) &&
                      all_finite(task.reference.rows.view());
  if (finite) {
    if (auto game = make_leaky_game(task); game != nullptr) return game;
    if (auto game = make_affine_game(task, context); game != nullptr) return game;
  }
  return make_masked_game(task, context);
}

}  // namespace assay

// The games that need more of a model than its predictions; null when the model does not have it. All values of the
// task's rows and reference rows must be finite: a difference that is not would also reach the coalitions without it.
#pragma once

#include <memory>

#include "assay/explain/games/game.h"

namespace assay {

// What both have for Game::rounding: sums of table rows are float32.
inline constexpr double kTableRounding = 4e-6;

std::unique_ptr<Game> make_affine_game(const ExplainTask& task, const Context& context);
// Null for the information form as well, and where the network is so large that copies of its weights for each target
// would take too much memory.
std::unique_ptr<Game> make_leaky_game(const ExplainTask& task);
// Values may be missing or infinite here. Null for ensembles that do not add up, or whose weights are not finite.
std::unique_ptr<Game> make_tree_game(const ExplainTask& task, const Context& context);

}  // namespace assay

// Games for models that offer more than predictions; null for other models. All values of the task's rows and reference
// rows must be finite: an infinite difference would spoil all coalitions.
#pragma once

#include <memory>

#include "assay/explain/games/game.h"

namespace assay {

// Game::rounding() of the affine and the leaky game, whose sums of table rows are float32.
inline constexpr double kTableRounding = 4e-6;

std::unique_ptr<Game> make_affine_game(const ExplainTask& task, const Context& context);
// Also null for the information form, and for networks so large that a copy of the weights for each target would take
// too much memory.
std::unique_ptr<Game> make_leaky_game(const ExplainTask& task);
// Values may be missing or infinite here. Also null for ensembles that do not add up, or whose weights are not finite.
std::unique_ptr<Game> make_tree_game(const ExplainTask& task, const Context& context);

}  // namespace assay

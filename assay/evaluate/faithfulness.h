// Faithfulness over subsets that the caller lists, for comparisons with other libraries; the criterion is in
// faithfulness.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/game.h"

namespace assay {

// For each row the correlation over exactly these subsets, in any sizes; NaN where undefined. attributions: a row for
// each row of the game, a column for each player.
std::vector<double> faithfulness_of(const Game& game, MatrixView<const float> attributions,
                                    std::span<const std::vector<uint32_t>> subsets, const Context& context);

}  // namespace assay

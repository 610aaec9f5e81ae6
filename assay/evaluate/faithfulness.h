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

// For each row of the game, the correlation over exactly these subsets, which may differ in size; NaN where undefined.
// attributions: rows of the game x players.
std::vector<double> faithfulness_of(const Game& game, MatrixView<const float> attributions,
                                    std::span<const std::vector<uint32_t>> subsets, const Context& context);

}  // namespace assay

// Many weights, put into blocks of kUnitWidth so that few products of two weights are not 0 in each block.
//
// w' G w has m (m + 1) / 2 products w_j w_k, and most are 0 where a search mixes a few members at a time. Weights are
// sorted by which members they mix; a block then needs only the entries of G that one of its weights uses. What is left
// out is exactly 0, so no bit of a sum changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

inline constexpr size_t kUnitWidth = 16;

// What kUnitWidth weights need of a Gram matrix. If there are fewer weights, the other columns are 0.
struct WeightBlock {
  std::vector<uint32_t> entries;  // of the packed matrix, ascending
  std::vector<double> products;   // kUnitWidth of them for each entry (packed_products)
};

struct WeightBlocks {
  std::vector<WeightBlock> blocks;
  std::vector<size_t> order;  // order[t]: which of the weights is column t of all blocks together

  size_t width() const { return blocks.size() * kUnitWidth; }
};

// One weight for each row.
WeightBlocks block_weights(MatrixView<const double> weights);

}  // namespace assay

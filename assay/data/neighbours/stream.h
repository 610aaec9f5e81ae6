// Rows within a radius, handed out block by block and never kept.
//
// A batch of queries goes through the blocks together: a block is read from memory once for all of them, and what the
// visitor does with a block it does for many queries at a time. Most rows are decided by their float32 estimates, whose
// error is bounded, and the others in float64. So the rows are exactly those of a float64 search.
#pragma once

#include <span>

#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/tree.h"

namespace assay {

// At most kBlockRows queries. tree: null to look at every block.
void stream_batch(const NeighbourBlocks& blocks, const NeighbourTree* tree, std::span<const BlockQuery> queries,
                  double radius, bool distances, NeighbourVisitor& visitor);

}  // namespace assay

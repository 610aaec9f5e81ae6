// Finds the gap between distances that a given distance lies in.
//
// A batch of queries goes through the blocks as for a radius. Float32 estimates drop all rows that cannot lie inside
// the gap found so far. The others are computed in float64, and each one narrows the gap, so they are few. Cost: about
// that of streaming the rows within the upper end.
#pragma once

#include <span>

#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/tree.h"

namespace assay {

// Narrows the gap around `distance` until no row of the blocks has a distance from one of the queries (at most
// kBlockRows) strictly inside it. tree: null to look at every block.
DistanceGap narrowed_gap(const NeighbourBlocks& blocks, const NeighbourTree* tree, std::span<const BlockQuery> queries,
                         double distance, DistanceGap gap);

}  // namespace assay

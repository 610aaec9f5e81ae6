// The gap between distances in which a given one lies.
//
// A batch of queries goes through the blocks as for a radius. Estimates decide all rows but those that may lie inside
// the gap as it is known so far, which gets narrower with every such row: few are computed in float64. Cost: about that
// of streaming the rows within the upper end.
#pragma once

#include <span>

#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/tree.h"

namespace assay {

// Narrows the gap around `distance` until no row of the blocks has a distance from one of the queries (at most
// kBlockRows) strictly inside it. tree: null where every block is to be looked at.
DistanceGap narrowed_gap(const NeighbourBlocks& blocks, const NeighbourTree* tree, std::span<const BlockQuery> queries,
                         double distance, DistanceGap gap);

}  // namespace assay

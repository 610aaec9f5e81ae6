// Search among many coordinates: every block is looked at, but left as soon as all its rows are beyond the limit.
//
// A batch of queries goes through the blocks together, so that a block is read from memory once for all of them. Cost:
// rows x coordinates at worst; in practice only as many coordinates as it takes to see that rows are too far.
#pragma once

#include <span>

#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/lists.h"

namespace assay {

// Offers each list the rows of all blocks that may belong to it. There is one list for each query.
void scan(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, std::span<NearestList> lists);
void scan(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, std::span<RadiusList> lists);

}  // namespace assay

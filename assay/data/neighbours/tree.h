// Search among few coordinates: a k-d tree of boxes, 32 to a node, tested 32 at a time.
//
// Rows are split at the median of the coordinate in which they differ most, down to blocks of kBlockRows; the boxes of
// kBlockRows neighbouring blocks form a node, kBlockRows nodes form a node above them, up to one root. A search enters
// the boxes that come within the limit, nearest first. Cost: build O(n d log n); a query tests a few nodes per level
// and scans the blocks that it cannot exclude.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/lists.h"

namespace assay {

// Orders these rows of the pool so that rows that are close together are in the same block or in neighbouring blocks.
std::vector<uint32_t> tree_order(const NeighbourSpace& space, MatrixView<const float> coordinates,
                                 std::vector<uint32_t> rows, const Context& context);

class NeighbourTree {
 public:
  // The blocks are in tree_order.
  explicit NeighbourTree(const NeighbourBlocks& blocks);

  void search(const NeighbourBlocks& blocks, const BlockQuery& query, NearestList& list) const;
  void search(const NeighbourBlocks& blocks, const BlockQuery& query, RadiusList& list) const;
  // Calls enter(block, queries) for every block, in ascending order, whose box may hold a row within the limit of a
  // query; bit q of `queries` is set if that is so for query q. At most 32 queries.
  void each_block(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, double limit,
                  const std::function<void(size_t block, uint32_t queries)>& enter) const;

 private:
  // The boxes of one depth: around blocks at level 0, around the nodes of the level below at the others.
  struct Level {
    size_t boxes = 0;
    AlignedFloats bounds;               // node x coordinate x (kBlockRows lower, kBlockRows upper bounds)
    std::vector<uint32_t> lowest_rows;  // of each node
  };

  template <class List>
  void visit(const NeighbourBlocks& blocks, const BlockQuery& query, size_t level, size_t node, List& list) const;

  void each_block(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, uint32_t active,
                  const float* ceilings, size_t level, size_t node,
                  const std::function<void(size_t, uint32_t)>& enter) const;

  std::vector<Level> levels_;
};

}  // namespace assay

#include "assay/data/neighbours/gap.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay {
namespace {

void look_at(const NeighbourBlocks& blocks, size_t block, const BlockQuery& query, double distance, DistanceGap& gap) {
  const BlockLayout& layout = blocks.layout();
  // What is at the upper end itself changes nothing.
  BlockLimits limits = estimate_limits(layout, query, std::nextafter(gap.above, 0.0));
  limits.floor = estimate_floor(layout, query, gap.below);
  // Where the gap reaches beyond 1, estimates leave out mismatches, and a row that is at 1 for one may be estimated
  // below the gap.
  if (layout.norm == Norm::linf && layout.mismatches > 0 && gap.below < 1 && !limits.mismatches_count) {
    limits.floor = -1;
  }
  const BlockRows rows = blocks.block(block);
  const BlockEstimate found = estimate_rows(layout, rows, query, limits);
  const uint32_t places = ~uint32_t{0} >> (kBlockRows - blocks.rows_in(block));
  uint32_t open = found.under & ~found.surely & places;
  const bool all = std::popcount(open) > kFewBlockRows;
  double distances[kBlockRows];
  if (all) exact_distances(layout, rows, query, distances);
  for (; open != 0; open &= open - 1) {
    const auto at = static_cast<size_t>(std::countr_zero(open));
    const double here = all ? distances[at] : exact_distance(layout, rows, at, query);
    if (here > distance) {
      gap.above = std::min(gap.above, here);
    } else {
      gap.below = std::max(gap.below, here);
    }
  }
}

}  // namespace

DistanceGap narrowed_gap(const NeighbourBlocks& blocks, const NeighbourTree* tree, std::span<const BlockQuery> queries,
                         double distance, DistanceGap gap) {
  if (queries.empty()) return gap;
  const auto enter = [&](size_t block, uint32_t active) {
    for (; active != 0; active &= active - 1) {
      look_at(blocks, block, queries[static_cast<size_t>(std::countr_zero(active))], distance, gap);
    }
  };
  if (tree != nullptr) {
    tree->each_block(blocks, queries, gap.above, enter);
    return gap;
  }
  const uint32_t all = ~uint32_t{0} >> (kBlockRows - queries.size());
  for (size_t block = 0; block < blocks.blocks(); ++block) enter(block, all);
  return gap;
}

}  // namespace assay

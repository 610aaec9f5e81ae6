#include "assay/data/neighbours/stream.h"

#include <array>
#include <bit>

namespace assay {
namespace {

class BlockStream {
 public:
  BlockStream(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, double radius, bool distances)
      : blocks_(blocks), queries_(queries), radius_(radius), wanted_(distances) {
    for (size_t i = 0; i < queries.size(); ++i) limits_[i] = estimate_limits(blocks.layout(), queries[i], radius);
  }

  // The hits of the queries of one block.
  std::span<const BlockHit> hits(size_t block, uint32_t active) {
    count_ = 0;
    const size_t rows = blocks_.rows_in(block);
    const uint32_t places = ~uint32_t{0} >> (kBlockRows - rows);
    for (; active != 0; active &= active - 1) {
      const auto query = static_cast<uint32_t>(std::countr_zero(active));
      const BlockEstimate found =
          estimate_rows(blocks_.layout(), blocks_.block(block), queries_[query], limits_[query]);
      if ((found.under & places) == 0) continue;
      BlockHit& hit = hits_[count_];
      hit.query = query;
      decide(block, found, places, hit);
      if (hit.within != 0) ++count_;
    }
    return {hits_.data(), count_};
  }

 private:
  void decide(size_t block, const BlockEstimate& found, uint32_t places, BlockHit& hit) {
    // Its own for each hit, because all hits of a block are seen together.
    double* distances = distances_[count_].data();
    const uint32_t under = found.under & places;
    const uint32_t surely = found.surely & under;
    const uint32_t open = under & (~surely | found.zero);
    hit.within = surely;
    hit.coincident = 0;
    hit.distances = wanted_ ? distances : nullptr;
    const uint32_t computed = wanted_ ? under : open;
    if (computed == 0) return;
    const BlockQuery& query = queries_[hit.query];
    const bool all = std::popcount(computed) > kFewBlockRows;
    if (all) exact_distances(blocks_.layout(), blocks_.block(block), query, distances);
    for (uint32_t left = all ? open : computed; left != 0; left &= left - 1) {
      const int at = std::countr_zero(left);
      if (!all) distances[at] = exact_distance(blocks_.layout(), blocks_.block(block), at, query);
      const uint32_t bit = uint32_t{1} << at;
      if (distances[at] <= radius_) hit.within |= bit;
      if (distances[at] == 0) hit.coincident |= bit;
    }
  }

  const NeighbourBlocks& blocks_;
  std::span<const BlockQuery> queries_;
  double radius_;
  bool wanted_;
  std::array<BlockLimits, kBlockRows> limits_ = {};
  size_t count_ = 0;
  std::array<BlockHit, kBlockRows> hits_;
  alignas(64) std::array<std::array<double, kBlockRows>, kBlockRows> distances_;
};

}  // namespace

void stream_batch(const NeighbourBlocks& blocks, const NeighbourTree* tree, std::span<const BlockQuery> queries,
                  double radius, bool distances, NeighbourVisitor& visitor) {
  if (queries.empty()) return;
  BlockStream stream(blocks, queries, radius, distances);
  const auto enter = [&](size_t block, uint32_t active) {
    if (!visitor.wants(block)) return;
    const std::span<const BlockHit> hits = stream.hits(block, active);
    if (!hits.empty()) visitor.see(block, hits);
  };
  if (tree != nullptr) return tree->each_block(blocks, queries, radius, enter);
  const uint32_t all = ~uint32_t{0} >> (kBlockRows - queries.size());
  for (size_t block = 0; block < blocks.blocks(); ++block) enter(block, all);
}

}  // namespace assay

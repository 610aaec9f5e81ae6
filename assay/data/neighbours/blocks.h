// The rows of a pool in blocks of kBlockRows, stored coordinate by coordinate, so that a vector holds one coordinate of
// several rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/data/neighbours/kernels.h"
#include "assay/data/neighbours/space.h"

namespace assay {

// float32 values that start at a cache line.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(size_t size);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
};

class NeighbourBlocks {
 public:
  // coordinates: as the space maps the pool. rows[p]: the pool's row for place p, not necessarily all rows; the rows of
  // each block are then sorted.
  NeighbourBlocks(const NeighbourSpace& space, MatrixView<const float> pool, MatrixView<const float> coordinates,
                  Norm norm, std::span<const uint32_t> rows);

  const BlockLayout& layout() const { return layout_; }
  size_t rows() const { return rows_.size(); }
  size_t pool_rows() const { return places_.size(); }
  std::span<const uint32_t> places() const { return rows_; }
  bool holds(size_t row) const { return places_[row] != kNoPlace; }
  size_t blocks() const { return (rows_.size() + kBlockRows - 1) / kBlockRows; }
  size_t rows_in(size_t block) const { return std::min(kBlockRows, rows_.size() - block * kBlockRows); }
  size_t lowest_row(size_t block) const { return rows_[block * kBlockRows]; }
  const float* values(size_t block) const { return values_.data() + block * kBlockRows * layout_.coordinates(); }
  BlockRows block(size_t block) const {
    const float* cells = cells_.data() + block * kBlockRows * layout_.numbers();
    return {values(block), layout_.scaled() ? cells : values(block) + layout_.mismatches * kBlockRows};
  }

  // A query in the order of the blocks. row: its cells; coordinates: as the space maps them. `room` has room for
  // query_room() numbers and must outlive the result.
  size_t query_room() const { return 2 * layout_.coordinates(); }
  BlockQuery query(const NeighbourSpace& space, std::span<const float> row, std::span<const float> coordinates,
                   float* room) const;

  // Offers the list every row of a block that may belong to it.
  template <class List>
  void visit(size_t block, const BlockQuery& query, List& list) const;

  // The row must be one that holds() accepts.
  double distance(const BlockQuery& query, size_t row) const;

 private:
  static constexpr uint32_t kNoPlace = std::numeric_limits<uint32_t>::max();

  BlockLayout layout_;
  bool missing_ = false;
  std::vector<uint32_t> rows_;    // the pool's row at each place
  std::vector<uint32_t> places_;  // the place of each row of the pool, or kNoPlace
  AlignedFloats values_;          // places beyond the last row repeat it
  AlignedFloats cells_;           // of numbers, if coordinates are scaled
};

template <class List>
void NeighbourBlocks::visit(size_t block, const BlockQuery& query, List& list) const {
  const double limit = list.limit(lowest_row(block));
  const BlockRows here = this->block(block);
  const BlockLimits limits = {estimate_ceiling(layout_, query, limit), -1, mismatches_count(layout_, limit)};
  uint32_t under = rows_under(layout_, here, query, limits);
  const size_t count = rows_in(block);
  if (count < kBlockRows) under &= (uint32_t{1} << count) - 1;
  if (under == 0) return;
  const uint32_t* rows = rows_.data() + block * kBlockRows;
  // A pass over the whole block costs about as much as this many rows one by one.
  constexpr int kFewRows = 4;
  if (std::popcount(under) <= kFewRows) {
    for (; under != 0; under &= under - 1) {
      const int at = std::countr_zero(under);
      list.offer(exact_distance(layout_, here, at, query), rows[at]);
    }
    return;
  }
  double distances[kBlockRows];
  exact_distances(layout_, here, query, distances);
  for (; under != 0; under &= under - 1) {
    const int at = std::countr_zero(under);
    list.offer(distances[at], rows[at]);
  }
}

}  // namespace assay

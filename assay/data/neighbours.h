// Exact neighbour search under l-infinity, l1 and l2.
//
// rho(x, z) is a norm of one coordinate per feature group: |a - b| / deviation of a numeric feature, where a and b are
// the float32 cells of the table; 0 or 1 (equal or not) for a categorical one, whether it is stored as a code or
// one-hot. NaN is a level of its own: 0 from NaN, 1 from anything else. All of it is computed in float64 with the
// features in their order, so distances do not depend on the vector target. Rows whose cells differ from the query's by
// the same amounts are at exactly the same distance, and rows that differ are never at distance 0; in one feature a
// larger difference is never nearer. Distances that are equal as numbers but come from different features may come out
// apart by rounding, a few units in the last place. Ties are broken by row index.
//
// Cost: the pool once more in float32, and its numbers twice where they are scaled. Up to 24 coordinates a tree of
// boxes: tens of microseconds a query among 50,000 rows. More: every query looks at every row, until it is seen to be
// too far: about a millisecond among 60,000 images. A wide radius costs what it returns: 16 bytes for each row found.
// Where that is too much, stream() hands neighbours out block by block and keeps none: about a nanosecond for a pair of
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"

namespace assay {

enum class Norm { linf, l1, l2 };

// scaled: numeric features are divided by their standard deviation on the pool (a feature whose values are all equal
// there, or all missing, has none and is left out; one value beside missing ones stays, in its own unit), categorical
// mismatch is 1. A one-hot group is the level of its largest
// value; all zero is a level of its own. raw: plain differences of the stored columns, codes of categories included.
enum class Space { scaled, raw };

struct Neighbour {
  size_t row;
  double distance;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// The neighbours of many queries, one list after another, each sorted by (distance, row).
class Neighbours {
 public:
  Neighbours(std::vector<size_t> offsets, std::vector<Neighbour> items)
      : offsets_(std::move(offsets)), items_(std::move(items)) {}
  size_t queries() const { return offsets_.size() - 1; }
  std::span<const Neighbour> of(size_t query) const {
    return std::span(items_).subspan(offsets_[query], offsets_[query + 1] - offsets_[query]);
  }

 private:
  std::vector<size_t> offsets_;
  std::vector<Neighbour> items_;
};

// Two distances with none between them.
struct DistanceGap {
  double below;
  double above;
  friend bool operator==(const DistanceGap&, const DistanceGap&) = default;
};

inline constexpr size_t kNoRow = static_cast<size_t>(-1);

// An index keeps its rows at places 0, 1, ..., in blocks of this many: place p is bit p % 32 of block p / 32.
inline constexpr size_t kBlockRows = 32;

// The rows of one block that are within the radius of one query.
struct BlockHit {
  uint32_t query = 0;                 // number in its batch
  uint32_t within = 0;                // one bit for each place of the block; at least one is set
  uint32_t coincident = 0;            // those of them at distance 0, the query itself among them
  const double* distances = nullptr;  // kBlockRows of them, meant where `within` is set; null unless asked for
};

// Sees the neighbours of one batch of queries, on one thread.
class NeighbourVisitor {
 public:
  virtual ~NeighbourVisitor() = default;
  // Whether the batch cares for this block at all.
  virtual bool wants(size_t /*block*/) { return true; }
  // Blocks come in ascending order, those without a hit are left out; hits come in the order of queries.
  virtual void see(size_t block, std::span<const BlockHit> hits) = 0;
  // After the last block of the batch.
  virtual void finish() {}
};

class NeighbourIndex {
 public:
  // Refuses infinite values, naming row and column, and values so large that distances leave float32. The context
  // cancels it.
  NeighbourIndex(const Dataset& pool, Norm norm, Space space = Space::scaled, const Context& context = {});
  // An index for each part of the pool (row numbers below its size, each at most once in a part), all in the space of
  // the whole pool. Rows keep the numbers they have in the pool.
  static std::vector<NeighbourIndex> of_parts(const Dataset& pool, Norm norm, Space space,
                                              std::span<const std::vector<size_t>> parts, const Context& context = {});
  ~NeighbourIndex();
  NeighbourIndex(NeighbourIndex&&) noexcept;
  NeighbourIndex& operator=(NeighbourIndex&&) noexcept;

  size_t rows() const;
  // The rows by place.
  std::span<const uint32_t> places() const;

  // Queries have the columns of the pool and are refused the same values. `excluded` is empty, or names for each query
  // one pool row that does not count (the query itself; kNoRow for none). k is at least 1; a pool with fewer rows gives
  // all it has. A radius is 0 or more, and includes rows at exactly that distance.
  Neighbours nearest(MatrixView<const float> queries, size_t k, const Context& context,
                     std::span<const size_t> excluded = {}) const;
  Neighbours within(MatrixView<const float> queries, double radius, const Context& context,
                    std::span<const size_t> excluded = {}) const;
  // The same rows as within() finds, and nothing kept: `make` gives a visitor for each batch of at most kBlockRows of
  // the queries with these numbers (rows of `queries`, in this order), from several threads at once. Distances cost as
  // much again.
  using MakeVisitor = std::function<std::unique_ptr<NeighbourVisitor>(std::span<const size_t> batch)>;
  void stream(MatrixView<const float> queries, std::span<const size_t> numbers, double radius, bool distances,
              const MakeVisitor& make, const Context& context, std::string_view task = "finding neighbours") const;
  // For each query of these numbers the distance to the k-th nearest of the rows that are not at distance 0; to the
  // last of them where there are fewer than k, NaN where there is none.
  std::vector<double> reach(MatrixView<const float> queries, std::span<const size_t> numbers, size_t k,
                            const Context& context) const;
  // The gap around a distance: of all distances between the queries of these numbers and the rows, the largest that is
  // at most `distance` and the smallest above it. `known` holds two such distances, or 0 and infinity: the closer they
  // are, the faster. Where no distance lies inside, what is known comes back.
  DistanceGap gap(MatrixView<const float> queries, std::span<const size_t> numbers, double distance, DistanceGap known,
                  const Context& context) const;
  // The distance of a query to one pool row, by the same arithmetic.
  double distance(std::span<const float> query, size_t row) const;

 private:
  struct State;
  explicit NeighbourIndex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay

// Exact neighbour search under l-infinity, l1 and l2.
//
// The distance rho(x, z) is a norm of one difference per feature group. A numeric feature differs by |a - b| /
// deviation, where a and b are the float32 cells of the table. A categorical one, stored as a code or one-hot, differs
// by 0 (equal) or 1. NaN is a level of its own: 0 from NaN, 1 from anything else. All of it is computed in float64 with
// the features in their order, so distances do not depend on the vector target. Rows whose cells differ from the
// query's by the same amounts are at exactly the same distance. Rows that differ are never at distance 0. In one
// feature, a larger difference is never nearer. Distances that are equal in theory but come from different features may
// differ by rounding, a few units in the last place. Ties are broken by row index.
//
// Memory: a float32 copy of the pool, with two copies of its numbers if these are scaled. Time, up to 24 coordinates: a
// tree of boxes, tens of microseconds a query among 50,000 rows. With more, every query looks at every row until that
// is seen to be too far: about a millisecond among 60,000 images. A radius costs what it returns: 16 bytes for each row
// found. If that is too much, stream() hands neighbours out block by block and keeps none: a nanosecond for a pair of
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

// scaled: numeric features are divided by their standard deviation on the pool. A feature is left out if all its values
// are equal or all are missing; one with a single value and missing cells stays, in its own unit. A categorical
// mismatch is 1. A one-hot group is the level of its largest value; all zeros are a level of their own.
// raw: plain differences of the stored columns, codes of categories included.
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

// Two distances with no other between them.
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
  uint32_t query = 0;                 // position in its batch
  uint32_t within = 0;                // one bit for each place of the block; at least one is set
  uint32_t coincident = 0;            // those of them at distance 0; the query itself may be one
  const double* distances = nullptr;  // kBlockRows of them, valid where `within` is set; null unless asked for
};

// Sees the neighbours of one batch of queries, on one thread.
class NeighbourVisitor {
 public:
  virtual ~NeighbourVisitor() = default;
  // False: the block is skipped.
  virtual bool wants(size_t /*block*/) { return true; }
  // Blocks come in ascending order, those without a hit are left out; hits come in the order of queries.
  virtual void see(size_t block, std::span<const BlockHit> hits) = 0;
  // After the last block of the batch.
  virtual void finish() {}
};

class NeighbourIndex {
 public:
  // Refuses infinite values, naming row and column, and values so large that distances overflow float32. Stops when the
  // context is cancelled.
  NeighbourIndex(const Dataset& pool, Norm norm, Space space = Space::scaled, const Context& context = {});
  // An index for each part of the pool, all scaled by the whole pool. A part lists row numbers of the pool, each at
  // most once. Rows keep the numbers they have in the pool.
  static std::vector<NeighbourIndex> of_parts(const Dataset& pool, Norm norm, Space space,
                                              std::span<const std::vector<size_t>> parts, const Context& context = {});
  ~NeighbourIndex();
  NeighbourIndex(NeighbourIndex&&) noexcept;
  NeighbourIndex& operator=(NeighbourIndex&&) noexcept;

  size_t rows() const;
  // places()[p] is the row at place p.
  std::span<const uint32_t> places() const;

  // Queries have the columns of the pool, and the same values are refused. `excluded` is empty, or names for each query
  // one pool row that does not count (the query itself; kNoRow for none). k is at least 1; a pool with fewer rows gives
  // all it has. A radius is 0 or more, and includes rows at exactly that distance.
  Neighbours nearest(MatrixView<const float> queries, size_t k, const Context& context,
                     std::span<const size_t> excluded = {}) const;
  Neighbours within(MatrixView<const float> queries, double radius, const Context& context,
                    std::span<const size_t> excluded = {}) const;
  // Visits the rows that within() would find, and keeps none. `numbers` are the rows of `queries` to search for, in
  // this order, in batches of at most kBlockRows. `make` returns the visitor of a batch; it is called from several
  // threads at once. With `distances` the search takes twice as long.
  using MakeVisitor = std::function<std::unique_ptr<NeighbourVisitor>(std::span<const size_t> batch)>;
  void stream(MatrixView<const float> queries, std::span<const size_t> numbers, double radius, bool distances,
              const MakeVisitor& make, const Context& context, std::string_view task = "finding neighbours") const;
  // For each query of these numbers the distance to its k-th nearest row, not counting rows at distance 0. With fewer
  // than k such rows, the distance to the last; NaN if there is none.
  std::vector<double> reach(MatrixView<const float> queries, std::span<const size_t> numbers, size_t k,
                            const Context& context) const;
  // The gap around `distance` among all distances between the queries of these numbers and the rows: the largest that
  // is at most `distance`, and the smallest above it. `known` is a gap that is known already, or 0 and infinity; a
  // narrower one is faster. It comes back unchanged if no distance lies inside it.
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

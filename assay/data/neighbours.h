// Exact neighbour search under l-infinity, l1 and l2.
//
// rho(x, z) is a norm of one coordinate per feature group: the difference of a numeric feature times its scale; 0 or 1
// (equal or not) for a categorical one, whether it is stored as a code or one-hot. NaN is a level of its own: 0 from
// NaN, 1 from anything else. Distances are exact in float64 over coordinates stored in float32, so they do not depend
// on the vector target; ties are broken by row index.
//
// Cost: the pool once more in float32. Up to 24 coordinates a tree of boxes: tens of microseconds a query among 50,000
// rows. More: every query looks at every row, until it is seen to be too far: about a millisecond among 60,000 images.
// A wide radius costs what it returns: 16 bytes for each row found.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"

namespace assay {

enum class Norm { linf, l1, l2 };

// scaled: numeric features are divided by their standard deviation on the pool (a feature whose values are all equal or
// missing there has none and is left out), categorical mismatch is 1. A one-hot group is the level of its largest
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

inline constexpr size_t kNoRow = static_cast<size_t>(-1);

class NeighbourIndex {
 public:
  // Refuses infinite values, naming row and column, and values so large that distances leave float32.
  NeighbourIndex(const Dataset& pool, Norm norm, Space space = Space::scaled);
  ~NeighbourIndex();
  NeighbourIndex(NeighbourIndex&&) noexcept;
  NeighbourIndex& operator=(NeighbourIndex&&) noexcept;

  size_t rows() const;

  // Queries have the columns of the pool and are refused the same values. `excluded` is empty, or names for each query
  // one pool row that does not count (the query itself; kNoRow for none). k is at least 1; a pool with fewer rows gives
  // all it has. A radius is 0 or more, and includes rows at exactly that distance.
  Neighbours nearest(MatrixView<const float> queries, size_t k, const Context& context,
                     std::span<const size_t> excluded = {}) const;
  Neighbours within(MatrixView<const float> queries, double radius, const Context& context,
                    std::span<const size_t> excluded = {}) const;
  // The distance of a query to one pool row, by the same arithmetic.
  double distance(std::span<const float> query, size_t row) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay

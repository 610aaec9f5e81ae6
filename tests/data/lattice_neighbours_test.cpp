// Neighbours among whole numbers, where most distances tie, against exact arithmetic.
//
// The deviation of whole numbers is the root of a rational: of n values with sum s and sum of squares t it is
// sqrt(n t - s^2) / n. So the square of |a - b| / deviation is (a - b)^2 n^2 / (n t - s^2), and distances under
// l-infinity and l2 are compared as quotients of integers; those under l1, which are sums of roots, in fixed point of
// 40 binary places. The library rounds: it may order two rows as it likes where their distances differ by less than
// 1e-12 relative, unless their cells differ from the query's by the same amounts: then they must tie, and the lower row
// wins.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/neighbours.h"

namespace assay {
namespace {

__extension__ using Wide = __int128;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int kLost = std::numeric_limits<int>::min();

Wide root_of(Wide square) {
  Wide low = 0;
  Wide high = Wide{1} << 62;
  while (low + 1 < high) {
    const Wide middle = low + (high - low) / 2;
    (middle * middle <= square ? low : high) = middle;
  }
  return low;
}

// Rows of whole numbers, then one of categories; kLost where missing. Every column stands there `copies` times.
struct Lattice {
  size_t numbers = 0;
  bool category = false;
  size_t copies = 1;
  std::vector<std::vector<int>> rows;

  size_t columns() const { return numbers + (category ? 1 : 0); }
  Dataset data() const {
    Dataset made;
    made.x = Matrix(rows.size(), columns() * copies);
    for (size_t j = 0; j < columns() * copies; ++j) {
      const auto kind = j % columns() < numbers ? ColumnKind::numeric : ColumnKind::categorical;
      made.feature_names.push_back("x" + std::to_string(j));
      made.groups.push_back({made.feature_names.back(), j, 1, kind});
      for (size_t i = 0; i < rows.size(); ++i) {
        const int value = rows[i][j % columns()];
        made.x(i, j) = value == kLost ? kNaN : static_cast<float>(value);
      }
    }
    return made;
  }
};

enum class Order { less, tie, greater, free };

// The exact distances of all rows from one query.
class Exact {
 public:
  Exact(const Lattice& lattice, Norm norm, Space space) : lattice_(lattice), norm_(norm), space_(space) {
    for (size_t j = 0; j < lattice.columns(); ++j) {
      Wide count = 0, sum = 0, squares = 0;
      for (const auto& row : lattice.rows) {
        if (row[j] == kLost) continue;
        ++count;
        sum += row[j];
        squares += Wide{row[j]} * row[j];
      }
      const Wide variance = count * squares - sum * sum;  // times count^2
      const bool whole = space == Space::raw || j >= lattice.numbers || variance == 0;
      scales_.push_back(whole ? std::pair<Wide, Wide>(1, 1) : std::pair(count, variance));
      const bool constant = variance == 0 && (count == 0 || count == static_cast<Wide>(lattice.rows.size()));
      used_.push_back(space == Space::raw || j >= lattice.numbers || !constant);
    }
  }

  // By column: what the cells differ by; -1 where they differ by one whole unit, whatever the deviation.
  std::vector<int> apart(size_t query, size_t row) const {
    std::vector<int> made;
    for (size_t j = 0; j < lattice_.columns(); ++j) {
      const int a = lattice_.rows[query][j];
      const int b = lattice_.rows[row][j];
      const bool unit = a == kLost || b == kLost || (j >= lattice_.numbers && space_ == Space::scaled);
      made.push_back(!used_[j] || a == b ? 0 : unit ? -1 : std::abs(a - b));
    }
    return made;
  }

  // The distance as a number that is comparable with others of this norm: its square times a constant under
  // l-infinity and l2; under l1 with 40 binary places.
  Wide size(const std::vector<int>& apart) const {
    Wide total = 0;
    for (size_t j = 0; j < apart.size(); ++j) {
      const auto [count, variance] = scales_[j];
      const Wide top = apart[j] < 0 ? variance : Wide{apart[j]} * apart[j] * count * count;  // over variance
      if (norm_ == Norm::l1) {
        total += static_cast<Wide>(lattice_.copies) * root_of((top << 80) / variance);
        continue;
      }
      const Wide here = top * (unit() / variance);
      total = norm_ == Norm::linf ? std::max(total, here) : total + static_cast<Wide>(lattice_.copies) * here;
    }
    return total;
  }
  // The radius numerator / 64 in the same measure.
  Wide size_of_radius(int numerator) const {
    return norm_ == Norm::l1 ? (Wide{numerator} << 40) / 64 : Wide{numerator} * numerator * unit() / (64 * 64);
  }

  double value(const std::vector<int>& apart) const {
    double total = 0;
    for (size_t j = 0; j < apart.size(); ++j) {
      const auto [count, variance] = scales_[j];
      const double here =
          apart[j] < 0 ? 1 : apart[j] * static_cast<double>(count) / std::sqrt(static_cast<double>(variance));
      const auto copies = static_cast<double>(lattice_.copies);
      total = norm_ == Norm::linf ? std::max(total, here)
              : norm_ == Norm::l1 ? total + copies * here
                                  : total + copies * here * here;
    }
    return norm_ == Norm::l2 ? std::sqrt(total) : total;
  }

  Order compare(Wide a, Wide b) const {
    const Wide close = norm_ == Norm::l1 ? static_cast<Wide>(4 * lattice_.columns() * lattice_.copies)
                                         : std::max(a, b) / 1'000'000'000'000;
    if (a - b <= close && b - a <= close) return Order::free;
    return a < b ? Order::less : Order::greater;
  }
  // Whole numbers as they are make no rounding necessary.
  Order compare_with_radius(const std::vector<int>& apart, int numerator) const {
    const Wide here = size(apart);
    const Wide radius = size_of_radius(numerator);
    return space_ == Space::scaled ? compare(here, radius) : here <= radius ? Order::less : Order::greater;
  }
  Order compare(const std::vector<int>& a, const std::vector<int>& b) const {
    return a == b ? Order::tie : compare(size(a), size(b));
  }

 private:
  Wide unit() const {
    Wide made = 1;
    for (const auto& [count, variance] : scales_) made *= variance;
    return made;
  }

  const Lattice& lattice_;
  Norm norm_;
  Space space_;
  std::vector<std::pair<Wide, Wide>> scales_;  // count, count^2 x variance
  std::vector<bool> used_;
};

std::vector<Neighbour> list_of(const Neighbours& found, size_t query) {
  return {found.of(query).begin(), found.of(query).end()};
}

// What a stream hands out, by query, in the order of rows.
std::vector<std::vector<size_t>> streamed(const NeighbourIndex& index, const Matrix& queries, double radius,
                                          bool distances) {
  struct Lister final : NeighbourVisitor {
    Lister(const NeighbourIndex& index, std::span<const size_t> batch, std::vector<std::vector<size_t>>& lists)
        : index_(index), batch_(batch), lists_(lists) {}
    void see(size_t block, std::span<const BlockHit> hits) override {
      for (const BlockHit& hit : hits) {
        for (uint32_t left = hit.within; left != 0; left &= left - 1) {
          lists_[batch_[hit.query]].push_back(index_.places()[block * kBlockRows + std::countr_zero(left)]);
        }
      }
    }
    const NeighbourIndex& index_;
    std::span<const size_t> batch_;
    std::vector<std::vector<size_t>>& lists_;
  };
  std::vector<std::vector<size_t>> lists(queries.rows());
  std::vector<size_t> numbers(queries.rows());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  index.stream(
      queries.view(), numbers, radius, distances,
      [&](std::span<const size_t> batch) { return std::make_unique<Lister>(index, batch, lists); }, Context());
  for (auto& list : lists) std::ranges::sort(list);
  return lists;
}

// The order of all rows by distance from one of them, and every distance.
::testing::AssertionResult ordered(const std::vector<Neighbour>& found, const Exact& exact, size_t query) {
  std::vector<std::vector<int>> apart;
  std::vector<Wide> sizes;
  for (const Neighbour& n : found) {
    apart.push_back(exact.apart(query, n.row));
    sizes.push_back(exact.size(apart.back()));
    const double value = exact.value(apart.back());
    if (std::abs(n.distance - value) > 1e-13 * value) {
      return ::testing::AssertionFailure()
             << "query " << query << ", row " << n.row << " is at " << n.distance << " instead of " << value;
    }
    const bool same = std::ranges::all_of(apart.back(), [](int k) { return k == 0; });
    if ((n.distance == 0) != same) return ::testing::AssertionFailure() << "row " << n.row << " at 0 or not";
  }
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t j = i + 1; j < found.size(); ++j) {
      const Order order = apart[i] == apart[j] ? Order::tie : exact.compare(sizes[i], sizes[j]);
      const bool tie = found[i].distance == found[j].distance;
      const bool right = order == Order::tie ? tie && found[i].row < found[j].row : order != Order::greater;
      if (!right || (tie && found[i].row > found[j].row)) {
        return ::testing::AssertionFailure()
               << "query " << query << ": row " << found[i].row << " comes before row " << found[j].row;
      }
    }
  }
  return ::testing::AssertionSuccess();
}

// Whether `rows` are those that order() says are within a limit.
template <class OrderOf>
::testing::AssertionResult those_within(const std::vector<Neighbour>& found, size_t rows, const OrderOf& order) {
  std::vector<bool> has(rows, false);
  for (const Neighbour& n : found) has[n.row] = true;
  for (size_t row = 0; row < rows; ++row) {
    const Order here = order(row);
    if (here == Order::free || has[row] == (here != Order::greater)) continue;
    return ::testing::AssertionFailure() << "row " << row << (has[row] ? " is" : " is not") << " in the neighbourhood";
  }
  return ::testing::AssertionSuccess();
}

// Thrown, so that a smaller example of a failure is looked for.
void require(bool holds, const std::string& otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

void check_exact(const Lattice& lattice, size_t queries) {
  const Dataset pool = lattice.data();
  const size_t rows = pool.rows();
  Matrix asked(std::min(queries, rows), pool.x.cols());
  for (size_t i = 0; i < asked.rows(); ++i) std::ranges::copy(pool.x.row(i), asked.row(i).begin());
  for (const Norm norm : {Norm::linf, Norm::l1, Norm::l2}) {
    for (const Space space : {Space::scaled, Space::raw}) {
      const NeighbourIndex index(pool, norm, space);
      const Exact exact(lattice, norm, space);
      const Neighbours all = index.nearest(asked.view(), rows, Context());
      const Neighbours five = index.nearest(asked.view(), 5, Context());
      for (size_t q = 0; q < asked.rows(); ++q) {
        const std::vector<Neighbour> list = list_of(all, q);
        require(list.size() == rows, "not all rows are listed");
        const auto right = ordered(list, exact, q);
        require(right, right.message());
        const std::vector<Neighbour> first(list.begin(), list.begin() + std::min<size_t>(5, rows));
        require(list_of(five, q) == first, "the five nearest do not come first");
      }
      const auto expect_within = [&](double radius, const auto& order) {
        const Neighbours within = index.within(asked.view(), radius, Context());
        const auto seen = streamed(index, asked, radius, false);
        require(streamed(index, asked, radius, true) == seen, "distances change a stream");
        for (size_t q = 0; q < asked.rows(); ++q) {
          const std::vector<Neighbour> list = list_of(within, q);
          const auto right = those_within(list, rows, [&](size_t row) { return order(exact.apart(q, row)); });
          require(right, right.message() + std::string(" of query ") + std::to_string(q));
          std::vector<size_t> listed;
          for (const Neighbour& n : list) listed.push_back(n.row);
          std::ranges::sort(listed);
          require(seen[q] == listed, "a stream differs from a list");
        }
      };
      for (const int numerator : {0, 40, 64, 128, 200}) {
        expect_within(numerator / 64.0,
                      [&](const std::vector<int>& apart) { return exact.compare_with_radius(apart, numerator); });
      }
      // Radii right at the distance of a pair: all pairs that differ by the same amounts are within.
      for (const size_t place : {rows / 10, rows / 3, rows / 2}) {
        const Neighbour edge = list_of(all, 0)[place];
        const std::vector<int> at = exact.apart(0, edge.row);
        expect_within(edge.distance, [&](const std::vector<int>& apart) { return exact.compare(apart, at); });
      }
    }
  }
}

RC_GTEST_PROP(LatticeNeighbours, EqualExactArithmetic, ()) {
  Lattice lattice;
  lattice.numbers = *rc::gen::inRange<size_t>(1, 4);
  lattice.category = *rc::gen::arbitrary<bool>();
  lattice.copies = *rc::gen::element<size_t>(1, 1, 1, 25);  // 25: too many columns for the tree
  const bool lost = *rc::gen::arbitrary<bool>();
  const size_t rows = *rc::gen::inRange<size_t>(1, 90);
  const auto steps = *rc::gen::container<std::vector<int>>(lattice.numbers, rc::gen::element(1, 2, 3, 5));
  const auto cells = *rc::gen::container<std::vector<int>>(rows * lattice.columns(), rc::gen::inRange(lost ? 0 : 1, 8));
  for (size_t i = 0; i < rows; ++i) {
    std::vector<int>& row = lattice.rows.emplace_back();
    for (size_t j = 0; j < lattice.columns(); ++j) {
      const int cell = cells[i * lattice.columns() + j];
      row.push_back(cell == 0 ? kLost : j < lattice.numbers ? cell * steps[j] : cell % 3);
    }
  }
  check_exact(lattice, 4);
}

// Categories that seldom differ, so that the gap is known narrowly before a row comes that differs in nothing else.
TEST(LatticeNeighbours, GapsAreThoseOfAllDistances) {
  const std::vector<size_t> first = {0};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Lattice lattice;
    lattice.numbers = 2;
    lattice.category = true;
    lattice.copies = seed % 4 == 0 ? 25 : 1;  // 25: too many columns for the tree
    RandomStream random(seed, "lattice_neighbours_test", 2);
    for (size_t i = 0; i < 400; ++i) {
      const int category = random.below(100) == 0 ? 1 : 0;
      lattice.rows.push_back(
          {1 + static_cast<int>(random.below(9)), 1 + static_cast<int>(random.below(30)), i == 0 ? 0 : category});
    }
    const Dataset pool = lattice.data();
    for (const Norm norm : {Norm::linf, Norm::l1, Norm::l2}) {
      for (const Space space : {Space::scaled, Space::raw}) {
        const NeighbourIndex index(pool, norm, space);
        std::vector<double> distances;
        for (size_t i = 0; i < 400; ++i) distances.push_back(index.distance(pool.x.row(0), i));
        std::ranges::sort(distances);
        for (const double distance : {0.0, 0.3, 0.7, 1.0, 1.01, 1.1, 1.2, 1.5, 2.0, 5.0, 1000.0}) {
          const auto above = std::ranges::upper_bound(distances, distance);
          const double infinity = std::numeric_limits<double>::infinity();
          const DistanceGap expected{*(above - 1), above == distances.end() ? infinity : *above};
          EXPECT_EQ(index.gap(pool.x.view(), first, distance, {0, infinity}, Context()), expected)
              << "seed " << seed << ", norm " << static_cast<int>(norm) << ", distance " << distance;
        }
      }
    }
  }
}

// 300 answers on four scales of seven points: rounding must not decide which pairs are neighbours.
TEST(LatticeNeighbours, SevenPointScales) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Lattice lattice;
    lattice.numbers = 4;
    RandomStream random(seed, "lattice_neighbours_test");
    for (size_t i = 0; i < 300; ++i) {
      std::vector<int>& row = lattice.rows.emplace_back();
      for (size_t j = 0; j < 4; ++j) row.push_back(1 + static_cast<int>(random.below(7)));
    }
    const Dataset pool = lattice.data();
    const NeighbourIndex index(pool, Norm::linf);
    const Exact exact(lattice, Norm::linf, Space::scaled);
    const Neighbours all = index.nearest(pool.x.view(), 300, Context());
    for (size_t q = 0; q < 300; ++q) ASSERT_TRUE(ordered(list_of(all, q), exact, q)) << "seed " << seed;
  }
}

// A column and the same values in another order have one deviation, so that a step in one is as far as in the other.
TEST(LatticeNeighbours, TheOrderOfRowsDoesNotChangeDeviations) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, "lattice_neighbours_test", 1);
    Dataset pool;
    pool.x = Matrix(211, 2);
    pool.feature_names = {"a", "b"};
    pool.groups = {{"a", 0, 1, ColumnKind::numeric}, {"b", 1, 1, ColumnKind::numeric}};
    for (size_t i = 0; i < 211; ++i) {
      pool.x(i, 0) = static_cast<float>(std::exp(random.normal()));
      pool.x(i * 97 % 211, 1) = pool.x(i, 0);
    }
    const NeighbourIndex index(pool, Norm::linf);
    // Far beyond all rows in one column each, so that the other does not count.
    Matrix queries(2, 2);
    queries(0, 0) = queries(1, 1) = 1000;
    const Neighbours nearest = index.nearest(queries.view(), 1, Context());
    ASSERT_EQ(nearest.of(0)[0].distance, nearest.of(1)[0].distance) << "seed " << seed;
  }
}

// An outlier takes the digits of scaled coordinates; the cells keep theirs.
TEST(LatticeNeighbours, AnOutlierDoesNotMergeValues) {
  for (const float outlier : {1e10F, -3e30F}) {
    Dataset pool;
    pool.x = Matrix(200, 1);
    pool.feature_names = {"x"};
    pool.groups = {{"x", 0, 1, ColumnKind::numeric}};
    for (size_t i = 0; i < 200; ++i) pool.x(i, 0) = static_cast<float>(1 + i * 5 % 7);
    pool.x(77, 0) = outlier;
    for (const Norm norm : {Norm::linf, Norm::l1, Norm::l2}) {
      const NeighbourIndex index(pool, norm);
      const Neighbours all = index.nearest(pool.x.view(), 200, Context());
      for (size_t q = 0; q < 200; ++q) {
        std::vector<size_t> expected(200);
        std::iota(expected.begin(), expected.end(), size_t{0});
        const double own = pool.x(q, 0);
        std::ranges::stable_sort(expected, {}, [&](size_t row) { return std::abs(own - pool.x(row, 0)); });
        for (size_t i = 0; i < 200; ++i) {
          const Neighbour n = all.of(q)[i];
          // From the outlier, differences of the others are lost in float64 as well: all are equally far at 3e30.
          if (q != 77 || outlier == 1e10F) {
            ASSERT_EQ(n.row, expected[i]);
          }
          ASSERT_EQ(n.distance == 0, pool.x(n.row, 0) == pool.x(q, 0));
        }
        const double step = index.distance(std::vector<float>{3}, 0);  // row 0 has 1
        const auto within = index.within(pool.x.view(), step / 2, Context()).of(q);
        const auto near = static_cast<size_t>(
            std::ranges::count_if(pool.x.values(), [&](float v) { return std::abs(v - own) <= 1; }));
        ASSERT_EQ(within.size(), near) << "row " << q;
      }
    }
  }
}

}  // namespace
}  // namespace assay

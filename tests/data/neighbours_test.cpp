#include "assay/data/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "tests/message.h"

namespace assay {
namespace {

__extension__ using Float128 = __float128;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Groups by letter: n numeric, s numeric and the same in all rows, m mostly missing, c categorical code, o one-hot of
// three columns. Few distinct values, so that most distances tie.
Dataset make_data(const std::string& kinds, size_t rows, uint64_t seed, bool missing, bool integers) {
  Dataset data;
  data.source = "made up";
  size_t columns = 0;
  for (const char kind : kinds) {
    FeatureGroup group;
    group.name = "g" + std::to_string(data.groups.size());
    group.first = columns;
    group.count = kind == 'o' ? 3 : 1;
    group.kind = kind == 'c' || kind == 'o' ? ColumnKind::categorical : ColumnKind::numeric;
    for (size_t j = 0; j < group.count; ++j) data.feature_names.push_back(group.name + "_" + std::to_string(j));
    columns += group.count;
    data.groups.push_back(group);
  }
  data.x = Matrix(rows, columns);
  RandomStream random(seed, "neighbours_test");
  for (size_t i = 0; i < rows; ++i) {
    for (size_t g = 0; g < kinds.size(); ++g) {
      float* at = &data.x(i, data.groups[g].first);
      const bool lost = missing && random.below(8) == 0;
      switch (kinds[g]) {
        case 'n':
          at[0] = integers ? static_cast<float>(random.below(4)) : static_cast<float>(100 + random.normal());
          break;
        case 's': at[0] = 0.1f; break;
        case 'm': at[0] = random.below(4) == 0 ? 7.0f : kNaN; break;
        case 'c': at[0] = static_cast<float>(random.below(3)); break;
        default: {
          const uint32_t level = random.below(4);  // 3: no level at all
          if (level < 3) at[level] = 1;
        }
      }
      if (lost) at[kinds[g] == 'o' ? random.below(3) : 0] = kNaN;
    }
    if (i > 0 && random.below(5) == 0) {
      const auto copied = data.x.row(random.below(static_cast<uint32_t>(i)));
      std::copy(copied.begin(), copied.end(), data.x.row(i).begin());
    }
  }
  return data;
}

// The definition in neighbours.h, word by word.
class BruteForce {
 public:
  BruteForce(const Dataset& pool, Norm norm, Space space) : pool_(pool), norm_(norm), space_(space) {
    for (const FeatureGroup& group : pool.groups) {
      std::vector<double> values;
      for (size_t i = 0; i < pool.rows(); ++i) {
        if (!std::isnan(pool.x(i, group.first))) values.push_back(pool.x(i, group.first));
      }
      // Sums with twice the digits: their order does not matter then.
      Scale scale;
      const auto count = static_cast<double>(values.size());
      scale.mean = static_cast<double>(std::accumulate(values.begin(), values.end(), Float128{0})) / count;
      Float128 squares = 0;
      for (const double v : values) squares += (v - scale.mean) * (v - scale.mean);
      scale.deviation = std::sqrt(static_cast<double>(squares) / count);
      const bool one_value = !values.empty() && std::ranges::min(values) == std::ranges::max(values);
      // One value that is missing in some rows tells those from the others.
      scale.constant = values.empty() || (one_value && values.size() == pool.rows());
      if (one_value) scale = {values[0], 1, scale.constant};
      scales_.push_back(scale);
    }
  }

  double distance(std::span<const float> query, size_t row) const {
    const auto other = pool_.x.row(row);
    double total = 0;
    const auto add = [&](double part) {
      if (norm_ == Norm::linf) total = std::max(total, part);
      if (norm_ == Norm::l1) total += part;
      if (norm_ == Norm::l2) total += part * part;
    };
    if (space_ == Space::raw) {
      for (size_t j = 0; j < query.size(); ++j) add(number(query[j], other[j]));
    } else {
      for (size_t g = 0; g < pool_.groups.size(); ++g) {
        const FeatureGroup& group = pool_.groups[g];
        const size_t j = group.first;
        if (group.count > 1) {
          add(level(query.subspan(j, group.count)) == level(other.subspan(j, group.count)) ? 0 : 1);
        } else if (group.kind == ColumnKind::categorical) {
          add(query[j] == other[j] || (std::isnan(query[j]) && std::isnan(other[j])) ? 0 : 1);
        } else if (!scales_[g].constant) {
          const bool known = !std::isnan(query[j]) && !std::isnan(other[j]);
          add(number(query[j], other[j]) / (known ? scales_[g].deviation : 1));
        }
      }
    }
    return norm_ == Norm::l2 ? std::sqrt(total) : total;
  }

  std::vector<Neighbour> sorted(std::span<const float> query, size_t excluded) const {
    std::vector<Neighbour> all;
    for (size_t i = 0; i < pool_.rows(); ++i) {
      if (i != excluded) all.push_back({i, distance(query, i)});
    }
    std::ranges::sort(all, {}, [](const Neighbour& n) { return std::pair(n.distance, n.row); });
    return all;
  }

 private:
  struct Scale {
    double mean = 0;
    double deviation = 0;
    bool constant = false;
  };

  static double number(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1;
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
  }
  static int level(std::span<const float> one_hot) {
    int at = -1;
    for (size_t j = 0; j < one_hot.size(); ++j) {
      if (std::isnan(one_hot[j])) return -2;
      if (one_hot[j] > (at < 0 ? 0 : one_hot[at])) at = static_cast<int>(j);
    }
    return at;
  }

  const Dataset& pool_;
  Norm norm_;
  Space space_;
  std::vector<Scale> scales_;
};

std::vector<std::vector<Neighbour>> lists_of(const Neighbours& found) {
  std::vector<std::vector<Neighbour>> lists;
  for (size_t i = 0; i < found.queries(); ++i) lists.emplace_back(found.of(i).begin(), found.of(i).end());
  return lists;
}

Context on_threads(unsigned threads) {
  Context context;
  context.threads = threads;
  return context;
}

// Lists what a stream hands out, and checks its order.
std::vector<std::vector<Neighbour>> streamed(const NeighbourIndex& index, const Matrix& queries,
                                             const std::vector<size_t>& numbers, double radius, bool distances,
                                             unsigned threads = 1) {
  class Lister final : public NeighbourVisitor {
   public:
    Lister(const NeighbourIndex& index, const Matrix& queries, std::span<const size_t> batch,
           std::vector<std::vector<Neighbour>>& lists)
        : index_(index), queries_(queries), batch_(batch), lists_(lists) {}
    void see(size_t block, std::span<const BlockHit> hits) override {
      EXPECT_TRUE(last_ == kNoRow || block > last_);
      last_ = block;
      for (size_t i = 0; i < hits.size(); ++i) {
        const BlockHit& hit = hits[i];
        EXPECT_TRUE(i == 0 || hits[i - 1].query < hit.query);
        EXPECT_NE(hit.within, 0u);
        for (size_t at = 0; at < kBlockRows; ++at) {
          if ((hit.within >> at & 1) == 0) continue;
          const size_t row = index_.places()[block * kBlockRows + at];
          const size_t query = batch_[hit.query];
          const double distance =
              hit.distances != nullptr ? hit.distances[at] : index_.distance(queries_.row(query), row);
          EXPECT_EQ(hit.coincident >> at & 1, distance == 0 ? 1u : 0u);
          lists_[query].push_back({row, distance});
        }
        EXPECT_EQ(hit.coincident & ~hit.within, 0u);
      }
    }
    void finish() override {
      for (const size_t query : batch_)
        std::ranges::sort(lists_[query], {}, [](const Neighbour& n) { return std::pair(n.distance, n.row); });
    }

   private:
    const NeighbourIndex& index_;
    const Matrix& queries_;
    std::span<const size_t> batch_;
    std::vector<std::vector<Neighbour>>& lists_;
    size_t last_ = kNoRow;
  };
  std::vector<std::vector<Neighbour>> lists(queries.rows());
  index.stream(
      queries.view(), numbers, radius, distances,
      [&](std::span<const size_t> batch) { return std::make_unique<Lister>(index, queries, batch, lists); },
      on_threads(threads));
  return lists;
}

std::vector<size_t> up_to(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

void expect_equal_to_brute_force(const Dataset& pool, const Matrix& queries, std::span<const size_t> excluded,
                                 Norm norm, Space space) {
  const NeighbourIndex index(pool, norm, space);
  const BruteForce brute(pool, norm, space);
  ASSERT_EQ(index.rows(), pool.rows());
  std::vector<std::vector<Neighbour>> all;
  for (size_t i = 0; i < queries.rows(); ++i) {
    all.push_back(brute.sorted(queries.row(i), excluded.empty() ? kNoRow : excluded[i]));
  }
  for (const size_t k : {size_t{1}, size_t{10}, size_t{77}, pool.rows() + 5}) {
    const auto found = lists_of(index.nearest(queries.view(), k, on_threads(1), excluded));
    ASSERT_EQ(found.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const std::vector<Neighbour> expected(all[i].begin(), all[i].begin() + std::min(k, all[i].size()));
      ASSERT_EQ(found[i], expected) << "query " << i << ", k = " << k;
    }
  }
  // Radii at which rows lie, so that whether the edge belongs decides; and one that takes all.
  std::vector<double> radii = {0, 1, 1.5, std::numeric_limits<double>::infinity()};
  if (!all.empty() && !all[0].empty()) {
    radii.push_back(all[0][all[0].size() / 20].distance);
    radii.push_back(std::nextafter(all[0][all[0].size() / 2].distance, 0.0));
  }
  for (const double radius : radii) {
    const auto found = lists_of(index.within(queries.view(), radius, on_threads(1), excluded));
    ASSERT_EQ(found.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<Neighbour> expected;
      std::ranges::copy_if(all[i], std::back_inserter(expected), [&](const auto& n) { return n.distance <= radius; });
      ASSERT_EQ(found[i], expected) << "query " << i << ", radius " << radius;
    }
    if (!excluded.empty()) continue;
    ASSERT_EQ(streamed(index, queries, up_to(queries.rows()), radius, false), found) << "radius " << radius;
    ASSERT_EQ(streamed(index, queries, up_to(queries.rows()), radius, true), found) << "radius " << radius;
  }
  for (size_t i = 0; i < std::min<size_t>(queries.rows(), 3); ++i) {
    for (size_t row = 0; row < pool.rows(); row += 1 + pool.rows() / 50) {
      ASSERT_EQ(index.distance(queries.row(i), row), brute.distance(queries.row(i), row));
    }
  }
}

struct Case {
  std::string name;
  std::string kinds;
  size_t rows;
  bool missing;
  bool integers;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string repeated(const std::string& kinds, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += kinds;
  return all;
}

class NeighboursCase : public testing::TestWithParam<std::tuple<Case, Norm, Space>> {};

TEST_P(NeighboursCase, EqualBruteForce) {
  const auto& [c, norm, space] = GetParam();
  const Dataset pool = make_data(c.kinds, c.rows, 1, c.missing, c.integers);
  const bool wide = pool.x.cols() > 100;
  // Rows like those of the pool, some of them far outside its range, and rows of the pool itself.
  Matrix queries = make_data(c.kinds, wide ? 5 : 40, 2, c.missing, c.integers).x;
  for (size_t i = 0; i < queries.rows(); i += 4) {
    for (size_t g = 0; g < pool.groups.size(); g += 1 + i % 3) {
      if (pool.groups[g].count == 1) queries(i, pool.groups[g].first) += i % 8 == 0 ? 9.0f : -1000.0f;
    }
  }
  std::vector<size_t> excluded(queries.rows(), kNoRow);
  for (size_t i = 1; i < queries.rows() && c.rows > 0; i += 2) {
    excluded[i] = i * 31 % c.rows;
    std::ranges::copy(pool.x.row(excluded[i]), queries.row(i).begin());
  }
  expect_equal_to_brute_force(pool, queries, {}, norm, space);
  expect_equal_to_brute_force(pool, queries, excluded, norm, space);
}

const Case kCases[] = {
    {"empty", "nco", 0, false, true},
    {"one_row", "nco", 1, false, true},
    {"five_rows", "nco", 5, true, true},
    {"d1_ties", "n", 3000, false, true},
    {"d1_numbers", "n", 1500, false, false},
    {"d1_code", "c", 700, true, true},
    {"d3_ties", "nnn", 2500, true, true},
    {"d3_numbers", "nnn", 2500, false, false},
    {"constants", "sms", 100, false, true},
    {"d14_mixed", "nncosncmconnnn", 2500, true, true},
    {"d14_numbers", "nnconnccconnnn", 2500, false, false},
    {"d40_mixed", repeated("nconncsnmn", 4), 1100, true, true},
    {"d40_numbers", repeated("n", 40), 1100, false, false},
    {"d784_ties", repeated("n", 784), 700, false, true},
    {"d784_mixed", repeated("nncnnnnn", 98), 300, true, false},
};

std::string case_name(const testing::TestParamInfo<std::tuple<Case, Norm, Space>>& tested) {
  const auto& [c, norm, space] = tested.param;
  return c.name +
         (norm == Norm::linf ? "_linf"
          : norm == Norm::l1 ? "_l1"
                             : "_l2") +
         (space == Space::scaled ? "_scaled" : "_raw");
}

INSTANTIATE_TEST_SUITE_P(All, NeighboursCase,
                         testing::Combine(testing::ValuesIn(kCases), testing::Values(Norm::linf, Norm::l1, Norm::l2),
                                          testing::Values(Space::scaled, Space::raw)),
                         case_name);

// A part of the pool is searched in the space of the whole, and its rows keep their numbers.
TEST(NeighboursTest, PartsEqualFilteredBruteForce) {
  for (const char* kinds : {"nncosnc", "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnncc"}) {
    const Dataset pool = make_data(kinds, 700, 11, true, true);
    const Matrix queries = make_data(kinds, 70, 12, true, true).x;
    std::vector<std::vector<size_t>> parts(4);
    for (size_t row = 0; row < pool.rows(); ++row) parts[row == 17 ? 2 : row % 5 == 0 ? 1 : 0].push_back(row);
    const std::vector<size_t> numbers = {69, 3, 4, 3, 12};  // one of them twice
    for (const Norm norm : {Norm::linf, Norm::l1, Norm::l2}) {
      for (const Space space : {Space::scaled, Space::raw}) {
        const BruteForce brute(pool, norm, space);
        std::vector<std::vector<Neighbour>> sorted;
        for (size_t i = 0; i < queries.rows(); ++i) sorted.push_back(brute.sorted(queries.row(i), kNoRow));
        const auto indexes = NeighbourIndex::of_parts(pool, norm, space, parts);
        ASSERT_EQ(indexes.size(), parts.size());
        for (size_t part = 0; part < parts.size(); ++part) {
          const NeighbourIndex& index = indexes[part];
          ASSERT_EQ(index.rows(), parts[part].size());
          for (const double radius : {0.0, 1.0, 2.0, 9.0}) {
            const auto within = lists_of(index.within(queries.view(), radius, on_threads(1)));
            for (size_t i = 0; i < queries.rows(); ++i) {
              std::vector<Neighbour> expected;
              for (const Neighbour& n : sorted[i]) {
                if (n.distance <= radius && std::ranges::binary_search(parts[part], n.row)) expected.push_back(n);
              }
              ASSERT_EQ(within[i], expected);
            }
            ASSERT_EQ(streamed(index, queries, up_to(queries.rows()), radius, false), within);
            ASSERT_EQ(streamed(index, queries, up_to(queries.rows()), radius, true, 3), within);
          }
          const std::vector<double> reached = index.reach(queries.view(), numbers, 10, on_threads(1));
          for (size_t i = 0; i < numbers.size(); ++i) {
            std::vector<double> away;
            for (const size_t row : parts[part]) {
              const double distance = brute.distance(queries.row(numbers[i]), row);
              if (distance > 0) away.push_back(distance);
            }
            std::ranges::sort(away);
            if (away.empty()) {
              EXPECT_TRUE(std::isnan(reached[i]));
            } else {
              EXPECT_EQ(reached[i], away[std::min<size_t>(10, away.size()) - 1]);
            }
          }
        }
      }
    }
    EXPECT_THAT(
        sentence([&] { NeighbourIndex::of_parts(pool, Norm::l2, Space::raw, parts)[2].distance(queries.row(0), 16); }),
        "the row of a distance: expected one of the part of the pool that is searched, found 16");
    const std::vector<std::vector<size_t>> beyond = {{700}};
    EXPECT_EQ(sentence([&] { NeighbourIndex::of_parts(pool, Norm::l2, Space::raw, beyond); }),
              "the rows of a part of the pool: expected rows below 700, the size of the pool, found 700");
  }
}

TEST(NeighboursTest, SameOnAnyNumberOfThreads) {
  for (const char* kinds : {"nncosnc", "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnncc"}) {
    const Dataset pool = make_data(kinds, 1500, 3, true, true);
    const NeighbourIndex index(pool, Norm::linf);
    const auto nearest = lists_of(index.nearest(pool.x.view(), 7, on_threads(1)));
    const auto within = lists_of(index.within(pool.x.view(), 1.0, on_threads(1)));
    for (const unsigned threads : {2u, 7u}) {
      EXPECT_EQ(lists_of(index.nearest(pool.x.view(), 7, on_threads(threads))), nearest);
      EXPECT_EQ(lists_of(index.within(pool.x.view(), 1.0, on_threads(threads))), within);
    }
  }
}

TEST(NeighboursTest, SameOnEveryVectorTarget) {
  const std::vector<std::string> targets = vector_targets();
  for (const char* kinds : {"nncosnc", "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnncc"}) {
    const Dataset pool = make_data(kinds, 1500, 4, true, false);
    for (const Norm norm : {Norm::linf, Norm::l1, Norm::l2}) {
      const NeighbourIndex index(pool, norm);
      const auto nearest = lists_of(index.nearest(pool.x.view(), 7, on_threads(1)));
      const auto within = lists_of(index.within(pool.x.view(), 2.0, on_threads(1)));
      for (const std::string& target : targets) {
        pin_vector_target(target);
        EXPECT_EQ(lists_of(index.nearest(pool.x.view(), 7, on_threads(1))), nearest) << target;
        EXPECT_EQ(lists_of(index.within(pool.x.view(), 2.0, on_threads(1))), within) << target;
        EXPECT_EQ(streamed(index, pool.x, up_to(pool.rows()), 2.0, true), within) << target;
      }
      pin_vector_target(targets.front());
    }
  }
}

TEST(NeighboursTest, ScalingKeepsTheDigitsOfFeaturesFarFromZero) {
  Dataset pool = make_data("n", 5, 1, false, true);
  for (size_t i = 0; i < 5; ++i) pool.x(i, 0) = 16777216.0f + 2 * static_cast<float>(i);
  const NeighbourIndex index(pool, Norm::linf);
  EXPECT_EQ(index.distance(pool.x.row(0), 1), 2 / std::sqrt(8.0));
  EXPECT_EQ(index.distance(pool.x.row(0), 4), 8 / std::sqrt(8.0));
}

TEST(NeighboursTest, NumbersAtTheEdgesOfFloat) {
  Dataset pool = make_data("nn", 6, 1, false, true);
  const float values[] = {1e38f, -1e38f, kNaN, 1e-45f, 0, 3e-39f};
  for (size_t i = 0; i < 6; ++i) pool.x(i, 0) = pool.x(i, 1) = values[i];
  for (const Norm norm : {Norm::linf, Norm::l1, Norm::l2}) {
    expect_equal_to_brute_force(pool, pool.x, {}, norm, Space::raw);
    expect_equal_to_brute_force(pool, pool.x, {}, norm, Space::scaled);
  }
}

TEST(NeighboursTest, NoQueriesGiveNoLists) {
  const Dataset pool = make_data("nn", 6, 1, false, true);
  const NeighbourIndex index(pool, Norm::l2);
  EXPECT_EQ(index.nearest(Matrix(0, 2).view(), 3, Context()).queries(), 0u);
}

TEST(NeighboursTest, RefusesWhatItCannotSearch) {
  const Dataset pool = make_data("nn", 6, 1, false, true);
  const NeighbourIndex index(pool, Norm::l2);
  const Matrix queries(2, 2);
  const Context context;
  EXPECT_EQ(sentence([&] { index.nearest(queries.view(), 0, context); }),
            "the number of neighbours: expected at least 1, found 0");
  EXPECT_EQ(sentence([&] { index.within(queries.view(), -1, context); }),
            "the radius of a neighbourhood: expected 0 or more, found -1");
  EXPECT_EQ(sentence([&] { index.within(queries.view(), kNaN, context); }),
            "the radius of a neighbourhood: expected 0 or more, found nan");
  EXPECT_EQ(sentence([&] { index.nearest(Matrix(2, 3).view(), 1, context); }),
            "the queries of a neighbour search: expected 2 columns, as in the pool, found 3");
  EXPECT_EQ(sentence([&] { index.stream(queries.view(), {}, -1, false, {}, context); }),
            "the radius of a neighbourhood: expected 0 or more, found -1");
  const std::vector<size_t> second = {2};
  EXPECT_EQ(sentence([&] { index.reach(queries.view(), second, 1, context); }),
            "the queries of a neighbour search: expected numbers below 2, of the rows there are, found 2");
  const std::vector<size_t> three(3, kNoRow), beyond = {0, 6};
  EXPECT_EQ(sentence([&] { index.nearest(queries.view(), 1, context, three); }),
            "the excluded rows of a neighbour search: expected none, or one for each of the 2 queries, found 3");
  EXPECT_EQ(sentence([&] { index.nearest(queries.view(), 1, context, beyond); }),
            "the excluded rows of a neighbour search: expected rows below 6, the size of the pool, or kNoRow, found 6");
  EXPECT_EQ(sentence([&] { index.distance(queries.row(0), 6); }),
            "the row of a distance: expected below 6, the size of the pool, found 6");
  EXPECT_EQ(sentence([&] { index.distance(std::vector<float>(5), 0); }),
            "the queries of a neighbour search: expected 2 columns, as in the pool, found 5");
}

TEST(NeighboursTest, RefusesInfiniteAndHugeValues) {
  Dataset pool = make_data("nn", 6, 1, false, true);
  const NeighbourIndex index(pool, Norm::linf);
  Matrix queries(100, 2);
  queries(70, 1) = -kInfinity;
  for (const unsigned threads : {1u, 3u}) {
    EXPECT_EQ(sentence([&] { index.nearest(queries.view(), 1, on_threads(threads)); }),
              "the queries of a neighbour search, row 71, column 'g1_0': expected a finite value or NaN, found -inf");
  }
  queries(70, 1) = 2e38f;
  EXPECT_THAT(sentence([&] { index.nearest(queries.view(), 1, Context()); }),
              testing::StartsWith("the queries of a neighbour search, row 71, column 'g1_0': expected a value whose "
                                  "distances fit into float32, found 2"));
  pool.x(4, 0) = kInfinity;
  for (const Space space : {Space::scaled, Space::raw}) {
    EXPECT_EQ(sentence([&] { NeighbourIndex(pool, Norm::linf, space); }),
              "made up, row 5, column 'g0_0': expected a finite value or NaN, found inf");
  }
}

}  // namespace
}  // namespace assay

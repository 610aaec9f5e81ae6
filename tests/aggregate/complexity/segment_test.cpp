#include "assay/aggregate/complexity/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"

namespace assay::testing {
namespace {

using Values = std::vector<double>;

// In long double, straight from the definition.
double entropy_by_definition(const Values& values) {
  long double total = 0;
  for (const double v : values) total += std::abs(static_cast<long double>(v));
  long double sum = 0;
  for (const double v : values) {
    const long double p = std::abs(static_cast<long double>(v)) / total;
    if (p > 0) sum -= p * std::log(p);
  }
  return static_cast<double>(sum);
}

void between(const Values& a, const Values& b, double t, Values& out) {
  out.resize(a.size());
  for (size_t k = 0; k < a.size(); k++) out[k] = (1 - t) * a[k] + t * b[k];
}

// Unit vectors, in turn dense, sparse, of few values (so that several cross at the same place), heavy-tailed, opposite
// in part and proportional.
std::pair<Values, Values> random_segment(size_t players, uint64_t number) {
  RandomStream draw(11, "segment test", number);
  Values a(players);
  Values b(players);
  const uint64_t kind = number % 6;
  const double factor = draw.normal();
  for (size_t k = 0; k < players; k++) {
    for (Values* end : {&a, &b}) {
      double& v = (*end)[k];
      v = draw.normal();
      if (kind == 1 && draw.uniform() < 0.7) v = 0;
      if (kind == 2) v = std::round(v);
      if (kind == 3) v = v * std::exp(3 * draw.normal());
    }
    if (kind == 4 && k % 3 != 0) b[k] = -a[k];
    if (kind == 5) b[k] = factor * a[k];
  }
  a[0] += a[0] == 0 ? 1 : 0;
  b[players - 1] += b[players - 1] == 0 ? -1 : 0;
  return {a, b};
}

// The least entropy of 4,001 points: those that respect the floor, and the ends. Near the origin rounding takes digits
// from the grid's points: they are left out where it takes more than three.
double least_on_grid(const Values& a, const Values& b, double floor) {
  const double least_norm = std::max(floor, 1e-3 * (l1_norm(a) + l1_norm(b)));
  double least = std::min(entropy_of(a), entropy_of(b));
  Values point;
  for (size_t i = 1; i < 4000; i++) {
    between(a, b, static_cast<double>(i) / 4000, point);
    if (l1_norm(point) >= least_norm) least = std::min(least, entropy_of(point));
  }
  return least;
}

TEST(Segment, EntropyIsThatOfTheDefinitionOnEveryVectorTarget) {
  const std::string before = vector_target();
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    for (size_t players = 1; players < 40; players++) {
      const Values values = random_segment(players, players).first;
      const double expected = entropy_by_definition(values);
      EXPECT_NEAR(entropy_of(values), expected, 1e-13 * (1e-3 + expected)) << target << ", " << players;
    }
    // R = 3e-9: H is about 6e-8, and keeps its digits.
    const Values small = {1e9, 1, -2};
    EXPECT_NEAR(entropy_of(small) / entropy_by_definition(small), 1, 1e-13);
  }
  pin_vector_target(before);
  EXPECT_TRUE(std::isnan(entropy_of(Values{0, 0})));
  EXPECT_EQ(entropy_of(Values{-3}), 0);
  EXPECT_DOUBLE_EQ(entropy_of(Values{1, -1, -2}), 1.5 * std::log(2.0));
}

TEST(Segment, SumsAreThoseOfTheirCoordinates) {
  for (size_t players = 0; players < 40; players++) {
    RandomStream draw(1, "sums test", players);
    Values from(players);
    Values to(players);
    std::vector<Crossing> crossings(players);
    const double t = players % 5 == 0 ? 1 : draw.uniform();
    SizeSums plain;
    SizeSums crossing;
    for (size_t k = 0; k < players; k++) {
      from[k] = k % 4 == 0 ? 0 : std::abs(draw.normal());
      to[k] = k % 8 == 0 ? 0 : std::abs(draw.normal());
      crossings[k] = {k % 7 == 3 ? t : draw.uniform(), draw.uniform()};
      const double u = (1 - t) * from[k] + t * to[k];
      plain.norm += u;
      if (u > 0) plain.logs += u * std::log(u);
      const double w = crossings[k].slope * std::abs(t - crossings[k].at);
      crossing.norm += w;
      if (w > 0) crossing.logs += w * std::log(w);
    }
    EXPECT_NEAR(plain_sums(from, to, t).norm, plain.norm, 1e-13);
    EXPECT_NEAR(plain_sums(from, to, t).logs, plain.logs, 1e-13);
    EXPECT_NEAR(crossing_sums(crossings, t).norm, crossing.norm, 1e-13);
    EXPECT_NEAR(crossing_sums(crossings, t).logs, crossing.logs, 1e-13);
    Values logs(players, NAN);
    size_logs(from, logs);
    for (size_t k = 0; k < players; k++) {
      EXPECT_NEAR(logs[k], from[k] > 0 ? from[k] * std::log(from[k]) : 0, 1e-15);
    }
  }
}

// a = (1, 2), b = (-1, 2): the first coordinate is 0 at t = 1/2, and there the other one has everything.
TEST(Segment, OfTwoPlayersHasItsMinimumWhereOneIsZero) {
  SegmentScratch scratch;
  const Values a = {1, 2};
  const Values b = {-1, 2};
  const SegmentPoint found = segment_minimum(a, b, 0, scratch);
  EXPECT_EQ(found.t, 0.5);
  EXPECT_EQ(found.entropy, 0);
  Values point(2);
  point_at(a, b, found.t, point);
  EXPECT_EQ(point, (Values{0, 2}));
}

// The paper's example: between (-1, 0) and (0, 1) nothing changes its sign, and both ends have entropy 0.
TEST(Segment, OfThePapersExampleIsAnEnd) {
  SegmentScratch scratch;
  const SegmentPoint found = segment_minimum(Values{-1, 0}, Values{0, 1}, 0, scratch);
  EXPECT_EQ(found.t, 0);
  EXPECT_EQ(found.entropy, 0);
}

// a = (3, 1), b = (-3, -0.5): norms 4 and 3.5. The first is 0 at t = 1/2, where the norm is 1/4, the second at t = 2/3,
// where it is 1: entropy 0 in both. With a floor of 1/2 the former is out and the latter in. With 1.25, both are out:
// on the left, |3 - 6t| + |1 - 1.5t| = 1.25 at t = 11/30, the point (0.8, 0.45); on the right, for t > 2/3, it is 7.5 t
// - 4 = 1.25 at t = 0.7, the point (-1.2, -0.05): the simplest one.
TEST(Segment, FloorHidesTheBreakpointsNearTheOrigin) {
  SegmentScratch scratch;
  const Values a = {3, 1};
  const Values b = {-3, -0.5};
  EXPECT_EQ(segment_minimum(a, b, 0.2, scratch).entropy, 0);
  EXPECT_DOUBLE_EQ(segment_minimum(a, b, 0.5, scratch).t, 2.0 / 3);
  EXPECT_EQ(segment_minimum(a, b, 0.5, scratch).entropy, 0);
  const SegmentPoint found = segment_minimum(a, b, 1.25, scratch);
  EXPECT_NEAR(found.t, 0.7, 1e-15);
  EXPECT_NEAR(found.entropy, entropy_by_definition({1.2, 0.05}), 1e-14);
  // Both ends are below: they alone count. p = (3/4, 1/4) against (6/7, 1/7).
  EXPECT_EQ(segment_minimum(a, b, 5, scratch).t, 1);
}

TEST(Segment, PointsThatAreNoSimplerThanAskedForAreLeftOut) {
  SegmentScratch scratch;
  const Values a = {1, 2, 0.1};
  const Values b = {-1, 2, 0.1};
  const double least = segment_minimum(a, b, 0, scratch).entropy;
  EXPECT_EQ(segment_minimum(a, b, 0, scratch, least + 1e-9).t, 0.5);
  EXPECT_EQ(segment_minimum(a, b, 0, scratch, least).t, 0);
  EXPECT_FALSE(segment_inside(a, b, 0, least, scratch).has_value());
}

TEST(Segment, ZeroEndsAreNeverTheAnswer) {
  SegmentScratch scratch;
  const Values zero = {0, 0};
  EXPECT_EQ(segment_minimum(zero, Values{1, 2}, 0, scratch).t, 1);
  EXPECT_EQ(segment_minimum(Values{1, 2}, zero, 0, scratch).t, 0);
  // Everything crosses at once: the origin, which has no entropy.
  const SegmentPoint found = segment_minimum(Values{0.1, 0.7, 0.3}, Values{-0.1, -0.7, -0.3}, 0, scratch);
  EXPECT_EQ(found.t, 0);
}

TEST(Segment, IsNeverBeatenByADenseGrid) {
  SegmentScratch scratch;
  size_t inside = 0;
  Values point;
  Values same;
  for (uint64_t number = 0; number < 3000; number++) {
    const size_t players = 1 + number / 18 % 20;
    const auto [a, b] = random_segment(players, number);
    const double share = std::vector<double>{0, 0.05, 0.7}[number / 6 % 3];
    const double floor = share * (l1_norm(a) + l1_norm(b)) / 2;
    const SegmentPoint found = segment_minimum(a, b, floor, scratch);
    ASSERT_LE(found.entropy, least_on_grid(a, b, floor) + 1e-12) << number << ", floor " << share;
    point.resize(players);
    point_at(a, b, found.t, point);
    ASSERT_EQ(entropy_of(point), found.entropy) << number;
    between(a, b, found.t, same);
    for (size_t k = 0; k < players; k++) ASSERT_NEAR(point[k], same[k], 1e-14 * (std::abs(a[k]) + std::abs(b[k])));
    if (found.t == 0 || found.t == 1) continue;
    inside++;
    ASSERT_GE(l1_norm(point), floor * (1 - 1e-12)) << number;
    ASSERT_TRUE(share > 0 || std::ranges::count(point, 0.0) > 0) << number;
  }
  EXPECT_GT(inside, 600U);
}

// The bound drops intervals unseen: every breakpoint is looked at here.
TEST(Segment, OfManyPlayersIsTheLeastOfAllBreakpoints) {
  SegmentScratch scratch;
  for (uint64_t number = 0; number < 60; number++) {
    const size_t players = number < 48 ? 150 : 784;
    const auto [a, b] = random_segment(players, number);
    const double floor = 0.05 * (l1_norm(a) + l1_norm(b)) / 2;
    double least = std::min(entropy_by_definition(a), entropy_by_definition(b));
    Values point;
    for (size_t k = 0; k < players; k++) {
      if (a[k] * b[k] >= 0) continue;
      between(a, b, a[k] / (a[k] - b[k]), point);
      if (l1_norm(point) >= floor) least = std::min(least, entropy_of(point));
    }
    const double found = segment_minimum(a, b, floor, scratch).entropy;
    EXPECT_LE(found, least + 1e-12) << number;
  }
}

TEST(Segment, CoordinatesThatCrossTogetherAreAllExactlyZero) {
  for (uint64_t number = 0; number < 500; number++) {
    RandomStream draw(5, "crossing test", number);
    const double t = draw.uniform();
    Values a(9);
    Values b(9);
    for (size_t k = 0; k < 9; k++) {
      a[k] = draw.normal();
      b[k] = k < 5 ? -a[k] * (1 - t) / t : draw.normal();
    }
    Values point(9);
    point_at(a, b, a[0] / (a[0] - b[0]), point);
    EXPECT_EQ(std::ranges::count(point, 0.0), 5) << number;
  }
}

}  // namespace
}  // namespace assay::testing

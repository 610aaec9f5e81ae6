#include "assay/aggregate/complexity/walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "assay/aggregate/complexity/sums.h"
#include "assay/core/random.h"

namespace assay::testing {
namespace {

using Values = std::vector<double>;

double walk(const Values& start, const Values& target, double floor, std::optional<double> fixed, Values& point) {
  WalkScratch scratch;
  const double entropy = walk_towards(start, target, floor, {.fixed = fixed}, {}, scratch);
  point = scratch.point;
  return entropy;
}

bool opposite(double a, double b) { return a * b < 0; }

Values random_values(size_t players, uint64_t number, uint32_t draw) {
  RandomStream stream(2, "walk test", number, draw);
  Values made(players);
  for (double& each : made) {
    each = stream.normal();
    if (number % 4 == 1 && stream.uniform() < 0.5) each = 0;
    if (number % 4 == 2) each = std::round(each);
    if (number % 4 == 3) each *= std::exp(2 * stream.normal());
  }
  made[number % players] += made[number % players] == 0 ? 1 : 0;
  return made;
}

// From (1, 2) to (-1, 2): at the target the first coordinate is as large as here, at 0 the second has everything. From
// there on entropy would rise.
TEST(Walk, JumpsToZeroWhereThatIsSimpler) {
  Values point;
  EXPECT_EQ(walk({1, 2}, {-1, 2}, 0, {}, point), 0);
  EXPECT_EQ(point, (Values{0, 2}));
}

// From (1, 3) to (-2, 12): the first at 0 leaves entropy 0, and then no move lowers it. With a floor of 3.5, 0 is out
// of bounds (norm 3), and -2 would make the sizes more alike; then 12 lowers it (p = 1/13), and now 0 is within bounds.
TEST(Walk, JumpsToTheTargetAndAgainToZeroOnceTheFloorAllows) {
  Values point;
  EXPECT_EQ(walk({1, 3}, {-2, 12}, 0, {}, point), 0);
  EXPECT_EQ(point, (Values{0, 3}));
  EXPECT_EQ(walk({1, 3}, {-2, 12}, 3.5, {}, point), 0);
  EXPECT_EQ(point, (Values{0, 12}));
}

// 0 is not on the way from 1 to 2 or to 0.5.
TEST(Walk, NeverLeavesTheBoxBetweenStartAndTarget) {
  Values point;
  walk({1, 3}, {2, 3}, 0, {}, point);
  EXPECT_EQ(point, (Values{1, 3}));
  walk({1, 3}, {0.5, 3}, 0, {}, point);
  EXPECT_EQ(point, (Values{0.5, 3}));
}

// From (1, 2) to (-1, 2) by 0.4: 0.6, 0.2, then clipped at 0, where it stays.
TEST(Walk, FixedStepsAreClippedAtZero) {
  Values point;
  EXPECT_EQ(walk({1, 2}, {-1, 2}, 0, 0.4, point), 0);
  EXPECT_EQ(point, (Values{0, 2}));
}

// From (1, 2) to (0.3, 2) by 0.4: 0.6, then clipped at 0.3.
TEST(Walk, FixedStepsDoNotOvershootTheTarget) {
  Values point;
  walk({1, 2}, {0.3, 2}, 0, 0.4, point);
  EXPECT_EQ(point, (Values{0.3, 2}));
}

TEST(Walk, OfOneCoordinateStays) {
  Values point;
  EXPECT_EQ(walk({2}, {-1}, 0, {}, point), 0);
  EXPECT_EQ(point, (Values{2}));
}

// No single jump that is allowed lowers entropy where an exact walk ends, and none of the length where a fixed one
// does.
TEST(Walk, IsNeverStuckWhereOneMoveWouldHelp) {
  size_t moved = 0;
  for (uint64_t number = 0; number < 4000; number++) {
    const size_t players = 1 + number % 13;
    const Values start = random_values(players, number, 0);
    const Values target = random_values(players, number, 1);
    const double floor = number % 3 == 0 ? 0 : 0.3 * l1_norm(start);
    const std::optional<double> fixed = number % 5 == 0 ? std::optional<double>(0.2) : std::nullopt;
    Values point;
    const double entropy = walk(start, target, floor, fixed, point);
    ASSERT_LE(entropy, entropy_of(start)) << number;
    ASSERT_EQ(entropy, entropy_of(point)) << number;
    ASSERT_GE(l1_norm(point), floor * (1 - 1e-12)) << number;
    moved += point == start ? 0 : 1;
    for (size_t k = 0; k < players; k++) {
      ASSERT_LE(std::min(start[k], target[k]), point[k]);
      ASSERT_GE(std::max(start[k], target[k]), point[k]);
      ASSERT_TRUE(fixed || point[k] == start[k] || point[k] == target[k] || point[k] == 0) << number;
      std::vector<double> moves = {target[k]};
      if (opposite(point[k], target[k])) moves.push_back(0);
      if (fixed) {
        const double step = std::min(*fixed, std::abs(target[k] - point[k]));
        const double next = point[k] + (target[k] > point[k] ? step : -step);
        moves = {opposite(point[k], next) ? 0 : next};
      }
      for (const double move : moves) {
        Values changed = point;
        changed[k] = move;
        if (l1_norm(changed) < std::max(floor, 1e-9)) continue;
        ASSERT_GE(entropy_of(changed), entropy - 1e-10) << number << ", coordinate " << k << " to " << move;
      }
    }
  }
  EXPECT_GT(moved, 2500U);
}

// The finer the steps of a coordinate, the nearer to where it stops: with one coordinate to move, from 3 to 1 beside 2,
// entropy rises first (at equal sizes it is largest), so that the walk stays; from 1.9 to 1 it falls all the way.
TEST(Walk, FixedStepsSeeTheSlopeAlone) {
  Values point;
  walk({3, 2}, {1, 2}, 0, 0.001, point);
  EXPECT_EQ(point, (Values{3, 2}));
  walk({1.9, 2}, {1, 2}, 0, 0.001, point);
  EXPECT_NEAR(point[0], 1, 1e-9);
  // An exact step sees beyond: p = 1/3 is simpler than 3/5.
  walk({3, 2}, {1, 2}, 0, {}, point);
  EXPECT_EQ(point, (Values{1, 2}));
}

// Without a floor the target may be the origin: the last coordinate stays, however small the others' rounding is.
TEST(Walk, NeverReachesTheOrigin) {
  for (const Values& start : {Values{0.1, 0.7, 0.2}, {1e-3, 1e3, 1}, {1, 1, 1}, {1e-30, 3e-30, 0}}) {
    for (const std::optional<double> fixed : {std::optional<double>(), std::optional<double>(0.3)}) {
      Values point;
      EXPECT_EQ(walk(start, {0, 0, 0}, 0, fixed, point), 0);
      EXPECT_EQ(std::ranges::count(point, 0.0), 2);
    }
  }
}

// The paper's step without any shortcut: the derivative by central differences, every entropy anew.
double derivative_walk_plainly(Values point, const Values& target, double alpha, Values& last) {
  const auto changed = [&](size_t k, double to) {
    Values other = point;
    other[k] = to;
    return entropy_of(other);
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t k = 0; k < point.size(); k++) {
      const double here = point[k];
      if (here == 0 || here == target[k]) continue;
      const double h = 1e-5 * std::abs(here);
      const double length = alpha * std::abs(changed(k, here + h) - changed(k, here - h)) / (2 * h);
      double next = here < target[k] ? std::min(here + length, target[k]) : std::max(here - length, target[k]);
      if (opposite(here, next)) next = 0;
      if (!(changed(k, next) < entropy_of(point) - 1e-12)) continue;
      point[k] = next;
      moved = true;
    }
  }
  last = point;
  return entropy_of(point);
}

TEST(Walk, DerivativeStepsAreThoseOfFiniteDifferences) {
  size_t moved = 0;
  for (uint64_t number = 0; number < 12; number++) {
    const Values start = random_values(5, number, 0);
    const Values target = random_values(5, number, 1);
    WalkScratch scratch;
    const double entropy = walk_towards(start, target, 0, {.alpha = 0.05}, {}, scratch);
    Values expected;
    EXPECT_NEAR(entropy, derivative_walk_plainly(start, target, 0.05, expected), 1e-5) << number;
    for (size_t k = 0; k < start.size(); k++) EXPECT_NEAR(scratch.point[k], expected[k], 1e-4) << number << ", " << k;
    EXPECT_LE(entropy, entropy_of(start));
    moved += scratch.point != start ? 1 : 0;
  }
  EXPECT_GT(moved, 6U);
}

TEST(Walk, EndsAtOnceWhenCancelled) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  WalkScratch scratch;
  EXPECT_ANY_THROW(walk_towards(Values{1, 2}, Values{-1, 2}, 0, {}, context, scratch));
}

}  // namespace
}  // namespace assay::testing

#include "assay/aggregate/mixtures/front.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <set>

#include "assay/core/error.h"
#include "assay/core/random.h"

namespace assay::testing {
namespace {

TEST(Front, ByHand) {
  // The third is beaten by the first in everything, the fourth equals the second.
  const std::vector<TradeOff> points = {{0.9, 0.5, 1}, {0.5, 0.1, 1}, {0.8, 0.6, 1.5}, {0.5, 0.1, 1}, {0.1, 0.9, 0.2}};
  EXPECT_EQ(front_of(points), (std::vector<size_t>{0, 1, 4}));
  // Ranges 0.8, 0.8 and 0.8 of faithfulness, sensitivity and complexity. Squared distances from (0.9, 0.1, 0.2):
  // 0 + 0.25 + 1; 0.25 + 0 + 1; 1 + 1 + 0.
  const std::vector<size_t> front = front_of(points);
  EXPECT_EQ(knee_of(points, front), 0U);
}

TEST(Front, IsWhatComparingAllPairsGives) {
  RandomStream draw(6, "front");
  for (size_t i = 0; i < 200; i++) {
    std::vector<TradeOff> points(1 + draw.below(60));
    for (TradeOff& each : points) {
      const auto value = [&] { return i % 2 == 0 ? draw.uniform() : static_cast<double>(draw.below(4)); };
      each = {value(), value(), value()};
    }
    std::vector<size_t> expected;
    for (size_t a = 0; a < points.size(); a++) {
      bool good = true;
      for (size_t b = 0; b < points.size(); b++) {
        good = good && !dominates(points[b], points[a]) && !(b < a && points[a] == points[b]);
      }
      if (good) expected.push_back(a);
    }
    EXPECT_EQ(front_of(points), expected);
  }
}

// All points of a plane are on the front: comparing each with all before it would take 5e9 comparisons.
TEST(Front, OfManyPointsIsFoundBySorting) {
  std::vector<TradeOff> points;
  for (int i = 0; i < 100'000; i++) {
    const double x = (i * 37 % 1000) / 1000.0;
    const double y = i / 100'000.0;
    points.push_back({x, y, x + 2 - y});
    points.push_back({x, y, x + 2.5 - y});  // beaten by the one before
  }
  const std::vector<size_t> front = front_of(points);
  ASSERT_EQ(front.size(), 100'000U);
  for (size_t k = 0; k < front.size(); k++) ASSERT_EQ(front[k], 2 * k);
}

TEST(Front, StopsWhenItIsTold) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  const std::vector<TradeOff> points(3);
  EXPECT_THROW(front_of(points, kUnitResolution, context), Error);
  const auto judge = [](std::span<const std::vector<double>> weights, std::vector<TradeOff>& found,
                        std::vector<bool>& valid) {
    found.resize(found.size() + weights.size());
    valid.resize(valid.size() + weights.size(), true);
  };
  EXPECT_THROW(search_front(3, 100, judge, kUnitResolution, context), Error);
}

// Noise of 1e-8 on few distinct values, wherever those lie: the front is that of the values without noise, the first of
// each; and nothing on it dominates anything else there.
TEST(Front, RoundingDecidesNothing) {
  RandomStream draw(8, "rounding");
  for (size_t i = 0; i < 300; i++) {
    std::array<double, 4> grid{};
    for (double& each : grid) each = draw.uniform();
    std::vector<TradeOff> points(1 + draw.below(40));
    std::vector<TradeOff> noisy;
    for (TradeOff& each : points) {
      each = {grid[draw.below(4)], grid[draw.below(4)], grid[draw.below(4)]};
      const auto noise = [&] { return 2e-8 * (draw.uniform() - 0.5); };
      noisy.push_back({each.faithfulness + noise(), each.avg_sensitivity + noise(), each.complexity + noise()});
    }
    const std::vector<size_t> front = front_of(noisy);
    EXPECT_EQ(front, front_of(points));
    for (const size_t a : front) {
      for (const size_t b : front) EXPECT_FALSE(dominates(noisy[a], noisy[b]));
    }
  }
}

// Each of the three is ahead of the next by 1.5e-7 in one criterion and behind by half of that in the others: 1e-7 less
// and 1e-7 more make that a circle of dominations. By levels all are equal where chains close, and the front is never
// empty.
TEST(Front, IsNotEmptyWhereDominationGoesRound) {
  const double half = 0.75e-7;
  const std::vector<TradeOff> points = {{0, 0, 0}, {-2 * half, -half, -half}, {-half, half, -2 * half}};
  EXPECT_TRUE(dominates(points[0], points[1]));
  EXPECT_TRUE(dominates(points[1], points[2]));
  EXPECT_TRUE(dominates(points[2], points[0]));
  EXPECT_EQ(front_of(points), std::vector<size_t>{0});
}

// More of the first three weights is better, so that all of their mixtures are on the front: about so many points are
// tried, none twice, vertices among them.
TEST(Front, SearchTriesDistinctWeights) {
  for (const size_t members : {1U, 2U, 3U, 6U, 20U}) {
    const FrontSearch made = search_front(
        members, 500,
        [](std::span<const std::vector<double>> weights, std::vector<TradeOff>& found, std::vector<bool>& valid) {
          for (const std::vector<double>& w : weights) {
            found.push_back({w[0], w.size() > 1 ? -w[1] : 0, w.size() > 2 ? -w[2] : 0});
            valid.push_back(true);
          }
        });
    const std::set<std::vector<double>> distinct(made.weights.begin(), made.weights.end());
    EXPECT_EQ(distinct.size(), made.weights.size());
    EXPECT_LE(made.weights.size(), 500U);
    if (members > 1) {
      EXPECT_GE(made.weights.size(), 250U) << members;
    }
    for (size_t j = 0; j < members; j++) {
      std::vector<double> vertex(members, 0.0);
      vertex[j] = 1;
      EXPECT_TRUE(distinct.contains(vertex));
    }
  }
}

}  // namespace
}  // namespace assay::testing

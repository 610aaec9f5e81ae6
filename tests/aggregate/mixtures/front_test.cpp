#include "assay/aggregate/mixtures/front.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

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

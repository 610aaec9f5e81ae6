#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

std::vector<float> random_row(size_t players, uint64_t row) {
  RandomStream stream(5, "descriptive_sparsity test", row);
  std::vector<float> values(players);
  for (float& v : values) v = static_cast<float>(stream.normal());
  return values;
}

double mass_around_zero(const std::vector<float>& values) {
  Trial trial = bare_trial({values});
  return scored("descriptive_sparsity", "", trial).values[0];
}

// The area under the share of players with |r| <= t, by the midpoint rule.
double area_by_rule(const std::vector<float>& values, size_t steps) {
  double most = 0;
  for (const float v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  double area = 0;
  for (size_t s = 0; s < steps; s++) {
    const double t = (static_cast<double>(s) + 0.5) / static_cast<double>(steps);
    area += static_cast<double>(std::ranges::count_if(values, [&](float v) { return std::abs(v) / most <= t; }));
  }
  return area / static_cast<double>(steps * values.size());
}

// |r| = 1, 1/4, 0, 1/2: the share is 1/4 up to 1/4, 1/2 up to 1/2, 3/4 up to 1: 1/16 + 1/8 + 3/8 = 9/16 = 1 - 7/16.
TEST(DescriptiveSparsity, OfFourPlayers) {
  Trial trial = bare_trial({{-4, 1, 0, 2}});
  EXPECT_DOUBLE_EQ(scored("descriptive_sparsity", "", trial).values[0], 9.0 / 16);
}

TEST(DescriptiveSparsity, HasItsEnds) {
  EXPECT_DOUBLE_EQ(mass_around_zero({0, 0, -3, 0}), 0.75);
  EXPECT_EQ(mass_around_zero({0.1F, 0.1F, -0.1F}), 0);
  EXPECT_EQ(mass_around_zero({2}), 0);
}

TEST(DescriptiveSparsity, ZerosAndWhatIsNoNumberAreUndefined) {
  Trial trial = bare_trial({{0, 0}, {1, NAN}, {1, 0}});
  const Scores found = scored("descriptive_sparsity", "", trial);
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_EQ(found.values[2], 0.5);
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, kAllZero);
  EXPECT_EQ(found.undefined[1].reason, kNotFinite);
}

TEST(DescriptiveSparsity, IsTheAreaUnderTheMassAroundZero) {
  for (uint64_t row = 0; row < 20; row++) {
    const std::vector<float> values = random_row(1 + row, row);
    EXPECT_NEAR(mass_around_zero(values), area_by_rule(values, 20000), 1e-4);
  }
}

TEST(DescriptiveSparsity, SignsScaleAndOrderPlayNoPart) {
  for (uint64_t row = 0; row < 30; row++) {
    std::vector<float> values = random_row(9, row);
    const double expected = mass_around_zero(values);
    for (size_t i = 0; i < values.size(); i++) values[i] *= i % 2 == 0 ? -8.0F : 8.0F;
    std::ranges::reverse(values);
    EXPECT_NEAR(mass_around_zero(values), expected, 1e-15);
  }
}

TEST(DescriptiveSparsity, BitsDoNotDependOnThreads) {
  Matrix values(3000, 5);
  for (size_t r = 0; r < values.rows(); r++) std::ranges::copy(random_row(5, r), values.row(r).begin());
  Trial trial{explanations_of(values)};
  expect_same_scores_on_threads("descriptive_sparsity", "", trial);
}

}  // namespace
}  // namespace assay::testing

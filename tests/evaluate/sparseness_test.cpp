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
  RandomStream stream(4, "sparseness test", row);
  std::vector<float> values(players);
  for (float& v : values) v = static_cast<float>(stream.normal());
  return values;
}

double gini_index(const std::vector<float>& values) {
  Trial trial = bare_trial({values});
  return scored("sparseness", "", trial).values[0];
}

// Half the mean difference of all ordered pairs, over the mean: another form of the same index.
double gini_by_pairs(const std::vector<float>& values) {
  double apart = 0;
  double total = 0;
  for (const float a : values) {
    total += std::abs(a);
    for (const float b : values) apart += std::abs(std::abs(static_cast<double>(a)) - std::abs(b));
  }
  return apart / (2 * static_cast<double>(values.size()) * total);
}

// Sorted sizes 1, 2, 5 with weights 2 i - 4 = -2, 0, 2: (-2 + 0 + 10) / (3 x 8) = 1/3.
TEST(Sparseness, OfThreePlayers) {
  Trial trial = bare_trial({{-5, 1, 2}});
  EXPECT_DOUBLE_EQ(scored("sparseness", "", trial).values[0], 1.0 / 3);
}

// One player of four with everything: weight 3, 3 / 4 = 1 - 1/4. Equal sizes, ties: 0. One player: 0.
TEST(Sparseness, HasItsEnds) {
  EXPECT_DOUBLE_EQ(gini_index({0, -2, 0, 0}), 0.75);
  EXPECT_EQ(gini_index({0.1F, -0.1F, 0.1F}), 0);
  EXPECT_EQ(gini_index({3}), 0);
}

TEST(Sparseness, ZerosAndWhatIsNoNumberAreUndefined) {
  Trial trial = bare_trial({{0, 0}, {NAN, 1}, {1, 3}});
  const Scores found = scored("sparseness", "", trial);
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_DOUBLE_EQ(found.values[2], 0.25);  // (-1 + 3) / (2 x 4)
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, kAllZero);
  EXPECT_EQ(found.undefined[1].reason, kNotFinite);
}

TEST(Sparseness, IsHalfTheRelativeMeanDifference) {
  for (uint64_t row = 0; row < 60; row++) {
    const std::vector<float> values = random_row(1 + row, row);
    const double found = gini_index(values);
    EXPECT_NEAR(found, gini_by_pairs(values), 1e-12);
    EXPECT_GE(found, 0);
    EXPECT_LE(found, 1 - 1 / static_cast<double>(values.size()) + 1e-15);
  }
}

TEST(Sparseness, SignsScaleAndOrderPlayNoPart) {
  for (uint64_t row = 0; row < 30; row++) {
    std::vector<float> values = random_row(9, row);
    const double expected = gini_index(values);
    for (size_t i = 0; i < values.size(); i++) values[i] *= i % 2 == 0 ? -8.0F : 8.0F;
    std::ranges::reverse(values);
    EXPECT_EQ(gini_index(values), expected);
  }
}

// Taking from a strong player for a weak one makes them more equal (Dalton's principle).
TEST(Sparseness, FallsWhenTheStrongGiveToTheWeak) {
  for (uint64_t row = 0; row < 30; row++) {
    std::vector<float> values = random_row(9, 100 + row);
    for (float& v : values) v = std::abs(v);
    const double before = gini_index(values);
    const auto [least, most] = std::ranges::minmax_element(values);
    const float gift = (*most - *least) / 4;
    *most -= gift;
    *least += gift;
    EXPECT_LT(gini_index(values), before);
  }
}

TEST(Sparseness, BitsDoNotDependOnThreads) {
  Matrix values(700, 5);
  for (size_t r = 0; r < values.rows(); r++) std::ranges::copy(random_row(5, r), values.row(r).begin());
  Trial trial{explanations_of(values)};
  expect_same_scores_on_threads("sparseness", "", trial);
}

}  // namespace
}  // namespace assay::testing

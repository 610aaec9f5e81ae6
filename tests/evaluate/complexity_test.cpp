#include "assay/evaluate/complexity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// In long double, straight from the definition.
double entropy_by_definition(const std::vector<float>& values) {
  long double total = 0;
  for (const float v : values) total += std::abs(static_cast<long double>(v));
  long double sum = 0;
  for (const float v : values) {
    const long double p = std::abs(static_cast<long double>(v)) / total;
    if (p > 0) sum -= p * std::log(p);
  }
  return static_cast<double>(sum);
}

std::vector<float> random_row(size_t players, uint64_t row) {
  RandomStream stream(3, "complexity test", row);
  std::vector<float> values(players);
  for (float& v : values) v = static_cast<float>(stream.normal() * std::exp(3 * stream.normal()));
  if (players > 2) values[players / 2] = 0;
  return values;
}

// (3, -5, 1): of 3 and 1 alone, p = (3/4, 1/4). (-1, -2, 0) has nothing positive.
TEST(Complexity, OfThePositivePart) {
  Trial trial = bare_trial({{3, -5, 1}, {-1, -2, 0}, {2, 0, 2}});
  const Scores found = scored("complexity", ":part=positive", trial);
  EXPECT_DOUBLE_EQ(found.values[0], -0.75 * std::log(0.75) - 0.25 * std::log(0.25));
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_DOUBLE_EQ(found.values[2], std::log(2.0));
  EXPECT_DOUBLE_EQ(found.coverage, 2.0 / 3);
}

// The paper's example: each of the two has one player with everything, their mean (-1/2, 1/2) has p = (1/2, 1/2):
// -2 x 1/2 ln 1/2 = ln 2.
TEST(Complexity, OfThePapersExample) {
  Trial trial = bare_trial({{-1, 0}, {0, 1}, {-0.5F, 0.5F}});
  const Scores found = scored("complexity", "", trial);
  EXPECT_EQ(found.values[0], 0);
  EXPECT_EQ(found.values[1], 0);
  EXPECT_DOUBLE_EQ(found.values[2], std::log(2.0));
  EXPECT_DOUBLE_EQ(found.mean, std::log(2.0) / 3);
  EXPECT_EQ(found.coverage, 1);
}

// |phi| = 1, 1, 2: p = 1/4, 1/4, 1/2; H = 2 x 1/4 ln 4 + 1/2 ln 2 = 3/2 ln 2.
TEST(Complexity, OfThreePlayers) { EXPECT_DOUBLE_EQ(complexity(std::vector<float>{1, -1, -2}), 1.5 * std::log(2.0)); }

TEST(Complexity, OfOnePlayerIsZero) { EXPECT_EQ(complexity(std::vector<float>{-7}), 0); }

TEST(Complexity, ZerosAndWhatIsNoNumberAreUndefined) {
  const float infinity = std::numeric_limits<float>::infinity();
  Trial trial = bare_trial({{0, 0}, {NAN, 1}, {1, infinity}, {-infinity, infinity}, {1, 1}, {-0.0F, 0}});
  const Scores found = scored("complexity", "", trial);
  for (const size_t r : {0U, 1U, 2U, 3U, 5U}) EXPECT_TRUE(std::isnan(found.values[r])) << r;
  EXPECT_DOUBLE_EQ(found.values[4], std::log(2.0));
  EXPECT_DOUBLE_EQ(found.coverage, 1.0 / 6);
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, kNotFinite);
  EXPECT_EQ(found.undefined[0].rows, 3U);
  EXPECT_EQ(found.undefined[1].reason, kAllZero);
  EXPECT_EQ(found.undefined[1].rows, 2U);
}

// What is no number is found wherever it stands: in whole vectors and in what is left over.
TEST(Complexity, EveryPlaceIsLookedAt) {
  for (size_t players = 1; players < 40; players++) {
    for (size_t at = 0; at < players; at++) {
      std::vector<float> values(players, 1);
      values[at] = NAN;
      EXPECT_TRUE(std::isnan(complexity(values)));
      values[at] = -std::numeric_limits<float>::infinity();
      EXPECT_TRUE(std::isnan(complexity(values)));
      std::vector<float> alone(players, 0);
      alone[at] = -3;
      EXPECT_EQ(complexity(alone), 0);
    }
  }
}

// The others together have 3e-7 of the strongest: H = ln(1 + R) - sum q ln q / (1 + R) is about 5e-6, and must not lose
// its digits beside ln of a total of 1e30. Subnormal numbers are numbers too.
TEST(Complexity, KeepsItsDigitsWhereItIsSmallAndWhereNumbersAreExtreme) {
  for (const std::vector<float>& values :
       {std::vector<float>{1e30F, 1e23F, -2e23F}, {1e-44F, 3e-44F, -1e-42F}, {3e38F, 3e38F, -3e38F, 1e-30F}}) {
    EXPECT_NEAR(complexity(values) / entropy_by_definition(values), 1, 1e-12);
  }
}

TEST(Complexity, IsTheEntropyOnEveryVectorTarget) {
  const std::string before = vector_target();
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    for (size_t players = 1; players < 70; players++) {
      const std::vector<float> values = random_row(players, players);
      const double expected = entropy_by_definition(values);
      EXPECT_NEAR(complexity(values), expected, 1e-13 * expected) << target << ", " << players << " players";
    }
  }
  pin_vector_target(before);
}

TEST(Complexity, LiesBetweenZeroAndTheUniformOne) {
  for (size_t players = 1; players < 100; players++) {
    const double most = std::log(static_cast<double>(players));
    const double found = complexity(random_row(players, 1000 + players));
    EXPECT_GE(found, 0);
    EXPECT_LE(found, most + 1e-15);
    EXPECT_NEAR(complexity(std::vector<float>(players, -0.3F)), most, 1e-15 * (1 + most));
  }
}

TEST(Complexity, SignsScaleAndOrderPlayNoPart) {
  for (uint64_t row = 0; row < 50; row++) {
    const std::vector<float> values = random_row(3 + row, row);
    const double expected = complexity(values);
    std::vector<float> changed = values;
    for (size_t i = 0; i < changed.size(); i++) changed[i] *= i % 3 == 0 ? -4.0F : 4.0F;
    EXPECT_DOUBLE_EQ(complexity(changed), expected);
    std::ranges::reverse(changed);
    EXPECT_NEAR(complexity(changed), expected, 1e-14);
  }
}

TEST(Complexity, BitsDoNotDependOnThreadsOrOtherRows) {
  Matrix values(3000, 14);
  for (size_t r = 0; r < values.rows(); r++) std::ranges::copy(random_row(14, r), values.row(r).begin());
  Trial trial{explanations_of(values)};
  expect_same_scores_on_threads("complexity", "", trial);
  const Scores all = scored("complexity", "", trial);
  for (size_t r = 0; r < values.rows(); r++) EXPECT_EQ(all.values[r], complexity(values.row(r)));
}

}  // namespace
}  // namespace assay::testing

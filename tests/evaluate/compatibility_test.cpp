#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// Sums 3 and -1, outputs 5 and 2, bases 1 and 3: |3 - 5| = 2, |-1 - 2| = 3; |3 + 1 - 5| = 1, |-1 + 3 - 2| = 0.
Trial two_rows() {
  Trial trial = bare_trial({{1, 2}, {-3, 2}});
  trial.explanations.output = {5, 2};
  trial.explanations.base = {1, 3};
  return trial;
}

TEST(Compatibility, IsTheDistanceOfTheSumFromTheOutput) {
  Trial trial = two_rows();
  const Scores printed = scored("compatibility", "", trial);
  EXPECT_EQ(printed.values, (std::vector<double>{2, 3}));
  ASSERT_EQ(printed.tables.size(), 1U);
  EXPECT_EQ(printed.tables[0].name, "completeness gap");
  EXPECT_EQ(printed.tables[0].rows[0][0], 0.5);
  EXPECT_EQ(printed.tables[0].rows[0][1], 0.5);  // sd of 1 and 0 is 1 / sqrt 2, over sqrt 2
  EXPECT_EQ(printed.tables[0].rows[0][2], 2);
  const Scores gap = scored("compatibility", ":form=gap", trial);
  EXPECT_EQ(gap.values, (std::vector<double>{1, 0}));
  ASSERT_EQ(gap.tables.size(), 1U);
  EXPECT_EQ(gap.tables[0].name, "printed form");
  EXPECT_EQ(gap.tables[0].rows[0][0], 2.5);
  EXPECT_EQ(gap.evaluations, 0U);
}

TEST(Compatibility, WithoutABaseTheGapIsUndefined) {
  Trial trial = two_rows();
  trial.explanations.base[0] = NAN;
  const Scores printed = scored("compatibility", "", trial);
  EXPECT_EQ(printed.values, (std::vector<double>{2, 3}));
  EXPECT_EQ(printed.tables[0].rows[0][2], 1);
  const Scores gap = scored("compatibility", ":form=gap", trial);
  EXPECT_TRUE(std::isnan(gap.values[0]));
  EXPECT_EQ(gap.values[1], 0);
  ASSERT_EQ(gap.undefined.size(), 1U);
  EXPECT_EQ(gap.undefined[0].reason, "no base value");
}

// An all-zero explanation says something here: that the output is 0.
TEST(Compatibility, ZerosCountAndWhatIsNoNumberDoesNot) {
  Trial trial = bare_trial({{0, 0}, {NAN, 1}, {1, 1}, {1, 1}});
  trial.explanations.output = {-4, 1, NAN, std::numeric_limits<double>::infinity()};
  const Scores found = scored("compatibility", "", trial);
  EXPECT_EQ(found.values[0], 4);
  for (const size_t r : {1U, 2U, 3U}) EXPECT_TRUE(std::isnan(found.values[r]));
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, "the explained value is not known");
  EXPECT_EQ(found.undefined[0].rows, 2U);
  EXPECT_EQ(found.undefined[1].reason, kNotFinite);
}

// y = 2 a - 3 b + 0.5 is -3.5 at (1, 2, 3) and -3 at (-1, 0.5, 4); attributions from elsewhere sum to 6 and 0.
TEST(Compatibility, TheModelIsAskedWhereTheOutputIsNotKnown) {
  Trial trial = trial_of(setting_of(linear_toy()), matrix_of({{1, 2, 3}, {1, 0, -1}}));
  const Scores found = scored("compatibility", "", trial);
  EXPECT_FLOAT_EQ(static_cast<float>(found.values[0]), 9.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(found.values[1]), 3);
  EXPECT_EQ(found.evaluations, 2U);
  trial.explanations.output[0] = 6;
  const Scores one = scored("compatibility", "", trial);
  EXPECT_EQ(one.values[0], 0);
  EXPECT_FLOAT_EQ(static_cast<float>(one.values[1]), 3);
  EXPECT_EQ(one.evaluations, 1U);
}

// A complete method has no gap, and its printed form is the size of the base value.
TEST(Compatibility, OfACompleteMethodTheGapIsZero) {
  for (const Toy& toy : all_toys()) {
    Trial trial = explained_trial(setting_of(toy), "exact_shapley");
    const Scores gap = scored("compatibility", ":form=gap", trial);
    const Scores printed = scored("compatibility", "", trial);
    for (size_t r = 0; r < gap.values.size(); r++) {
      EXPECT_NEAR(gap.values[r], 0, 2e-6) << toy.name;
      EXPECT_NEAR(printed.values[r], std::abs(trial.explanations.base[r]), 2e-6) << toy.name;
      EXPECT_NEAR(gap.values[r], std::abs(trial.explanations.gap[r]), 1e-9) << toy.name;
    }
  }
}

TEST(Compatibility, BitsDoNotDependOnThreads) {
  Trial trial = trial_of(setting_of(linear_toy()), matrix_of({{1, 2, 3}, {1, 0, -1}}));
  expect_same_scores_on_threads("compatibility", "", trial);
}

}  // namespace
}  // namespace assay::testing

// Tests of two groups against SciPy, counting and resampling.
#include "assay/study/cohort_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

RunningMoments moments(const std::vector<double>& values) {
  RunningMoments made;
  for (const double value : values) made.add(value);
  return made;
}

TEST(CohortTests, WelchAsInSciPy) {
  // scipy.stats.ttest_ind([1, 2, 3, 4], [2, 4, 6, 8, 10], equal_var=False): t = -3.5 / sqrt(5/12 + 2), 5.52 degrees.
  const GroupTest made = welch_test(moments({1, 2, 3, 4}), moments({2, 4, 6, 8, 10}));
  EXPECT_DOUBLE_EQ(made.difference, -3.5);
  EXPECT_NEAR(made.error, std::sqrt(5.0 / 12 + 2), 1e-15);
  EXPECT_NEAR(made.p_value, 0.06913359319239237, 1e-10);
  // An error that all rows share is in both means.
  EXPECT_NEAR(welch_test(moments({1, 2, 3, 4}), moments({2, 4, 6, 8, 10}), 0.5).error,
              std::sqrt(5.0 / 12 + 2 + 2 * 0.25), 1e-15);
}

TEST(CohortTests, WelchOfConstantsAndOfTooFew) {
  EXPECT_EQ(welch_test(moments({1, 1, 1}), moments({1, 1})).p_value, 1);
  EXPECT_EQ(welch_test(moments({1, 1, 1}), moments({2, 2})).p_value, 0);
  // A difference within rounding is none, however small its error.
  EXPECT_EQ(welch_test(moments({1, 1 + 1e-12}), moments({1 + 1e-8, 1 + 1.0001e-8})).p_value, 1);
  EXPECT_TRUE(std::isnan(welch_test(moments({1}), moments({2, 3})).p_value));
  EXPECT_TRUE(std::isnan(welch_test(moments({1, INFINITY}), moments({2, 3})).p_value));
}

TEST(CohortTests, FisherAsInSciPy) {
  // scipy.stats.fisher_exact([[a, b], [c, d]]): successes and failures of both groups.
  EXPECT_NEAR(fisher_test(3, 4, 1, 4).p_value, 34.0 / 70, 1e-12);  // the lady tasting tea
  EXPECT_NEAR(fisher_test(1, 10, 11, 14).p_value, 0.0027594561852200836, 1e-12);
  EXPECT_NEAR(fisher_test(30, 30, 430, 470).p_value, 0.15678112831547764, 1e-11);
  EXPECT_NEAR(fisher_test(50, 60, 300, 440).p_value, 0.016123990665081744, 1e-11);
  EXPECT_NEAR(fisher_test(8, 10, 1, 6).p_value, 0.034965034965034975, 1e-12);
  EXPECT_DOUBLE_EQ(fisher_test(3, 4, 1, 4).difference, 0.5);
  EXPECT_EQ(fisher_test(5, 5, 7, 7).p_value, 1);
  EXPECT_TRUE(std::isnan(fisher_test(0, 0, 1, 2).p_value));
  // So unlikely that the likeliest table overflows beside it.
  EXPECT_EQ(fisher_test(0, 5000, 5000, 5000).p_value, 0);
}

// Against all ways to deal the successes to the rows of both groups.
TEST(CohortTests, FisherAgainstCounting) {
  for (unsigned first = 1; first <= 7; first++) {
    for (unsigned second = 1; second <= 6; second++) {
      const unsigned rows = first + second;
      for (unsigned successes = 0; successes <= rows; successes++) {
        std::vector<double> ways(first + 1, 0);  // by successes in the first group
        double all = 0;
        for (unsigned dealt = 0; dealt < (1U << rows); dealt++) {
          if (static_cast<unsigned>(std::popcount(dealt)) != successes) continue;
          ways[static_cast<size_t>(std::popcount(dealt & ((1U << first) - 1)))]++;
          all++;
        }
        for (unsigned in_first = 0; in_first <= first; in_first++) {
          if (ways[in_first] == 0) continue;
          double expected = 0;
          for (const double each : ways) expected += each <= ways[in_first] ? each : 0;
          EXPECT_NEAR(fisher_test(in_first, first, successes - in_first, second).p_value, expected / all, 1e-12);
        }
      }
    }
  }
}

TEST(CohortTests, RatioByHand) {
  // 1 + 3 of 4 + 4 is one half. (1 - 2) / 4 and (3 - 2) / 4 are -1/4 and 1/4: variance 1/8, error sqrt(1/16).
  const Ratio made = ratio_of(std::vector<double>{1, 3}, std::vector<double>{4, 4});
  EXPECT_DOUBLE_EQ(made.ratio, 0.5);
  EXPECT_DOUBLE_EQ(made.error, 0.25);
  // The same share in every row has no error, whatever the rows' sizes.
  const Ratio same = ratio_of(std::vector<double>{1, 2, 3}, std::vector<double>{2, 4, 6});
  EXPECT_DOUBLE_EQ(same.ratio, 0.5);
  EXPECT_EQ(same.error, 0);
  EXPECT_TRUE(std::isnan(ratio_of(std::vector<double>{0}, std::vector<double>{0}).ratio));
}

// The error by linearisation is that of many samples, within the error of their number.
TEST(CohortTests, RatioErrorAgainstManySamples) {
  constexpr uint32_t kSamples = 4000;
  RunningMoments ratios;
  RunningMoments errors;
  for (uint32_t sample = 0; sample < kSamples; sample++) {
    RandomStream random(5, "ratios", 0, sample);
    std::vector<double> parts;
    std::vector<double> wholes;
    for (size_t row = 0; row < 60; row++) {
      parts.push_back(random.uniform());
      wholes.push_back(parts.back() + 2 * random.uniform());
    }
    const Ratio made = ratio_of(parts, wholes);
    ratios.add(made.ratio);
    errors.add(made.error);
  }
  // A standard deviation of 4,000 values has a standard error of 1.1 %; what the approximation leaves is of order 1/60.
  EXPECT_NEAR(errors.mean() / ratios.standard_deviation(), 1, 0.05);
}

double squared_welch(const std::vector<double>& values, uint32_t group) {
  RunningMoments first;
  RunningMoments second;
  for (size_t i = 0; i < values.size(); i++) ((group >> i & 1) != 0 ? first : second).add(values[i]);
  const GroupTest found = welch_test(first, second);
  return found.difference * found.difference / (found.error * found.error);
}

// All 252 groups of 5 of 10, by Welch's t.
TEST(ShuffledPValue, IsTheShareOfGroupsThatDifferAsMuch) {
  const std::vector<double> values = {0.1, 0.5, 0.2, 0.9, 1.7, 3.1, 0.05, 8, 2.2, 0.4};
  const std::vector<uint8_t> in_group = {1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  std::vector<uint8_t> others(in_group.size());
  std::ranges::transform(in_group, others.begin(), [](uint8_t each) { return static_cast<uint8_t>(1 - each); });
  uint32_t own = 0;
  for (size_t i = 0; i < in_group.size(); i++) own |= static_cast<uint32_t>(in_group[i]) << i;
  size_t groups = 0;
  size_t as_much = 0;
  for (uint32_t group = 0; group < 1U << 10; group++) {
    if (std::popcount(group) != 5) continue;
    groups++;
    as_much += squared_welch(values, group) >= squared_welch(values, own) * (1 - 1e-9) ? 1 : 0;
  }
  ASSERT_EQ(groups, 252U);
  const double exact = static_cast<double>(as_much) / 252;
  ASSERT_LT(exact, 0.05);
  const double found = shuffled_p_value(values, in_group, RandomStream(1, "test"));
  EXPECT_NEAR(found, exact, 4 * exact / std::sqrt(50));  // it stops after 50 that differ as much
  // Which group is the first makes no difference.
  EXPECT_EQ(found, shuffled_p_value(values, others, RandomStream(1, "test")));
}

// Groups that are drawn by lot differ by no more than chance, however skewed the values are. Welch's test finds far
// more.
TEST(ShuffledPValue, HoldsForSkewedValuesInSmallGroups) {
  constexpr double kLevel = 0.002;
  constexpr size_t kTrials = 4'000;
  size_t by_welch = 0;
  size_t by_both = 0;
  for (size_t trial = 0; trial < kTrials; trial++) {
    RandomStream random(trial, "skewed");
    std::vector<double> values(400);
    std::vector<uint8_t> in_group(values.size());
    RunningMoments own;
    RunningMoments rest;
    for (size_t i = 0; i < values.size(); i++) {
      values[i] = std::exp(1.5 * random.normal());
      in_group[i] = i < 35 ? 1 : 0;
      (i < 35 ? own : rest).add(values[i]);
    }
    const double welch = welch_test(own, rest).p_value;
    if (!(welch < kLevel)) continue;
    by_welch++;
    by_both += shuffled_p_value(values, in_group, RandomStream(trial, "test")) < kLevel ? 1 : 0;
  }
  const double expected = kLevel * kTrials;
  EXPECT_GT(static_cast<double>(by_welch), 3 * expected);
  EXPECT_LT(static_cast<double>(by_both), expected + 3 * std::sqrt(expected));
}

}  // namespace
}  // namespace assay

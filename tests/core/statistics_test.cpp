#include "assay/core/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Moments, HandWorked) {
  RunningMoments m;
  for (const double v : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) m.add(v);
  EXPECT_DOUBLE_EQ(m.mean(), 5);
  EXPECT_DOUBLE_EQ(m.variance(), 32.0 / 7);  // squared deviations 9+1+1+1+0+0+4+16 = 32
  EXPECT_DOUBLE_EQ(m.standard_error(), std::sqrt(32.0 / 7 / 8));
}

TEST(Moments, UndefinedIsNaN) {
  RunningMoments m;
  EXPECT_TRUE(std::isnan(m.mean()));
  m.add(3);
  EXPECT_EQ(m.mean(), 3);
  EXPECT_TRUE(std::isnan(m.variance()));
  EXPECT_TRUE(std::isnan(m.standard_error()));
}

TEST(Moments, KeepsDigitsFarFromZero) {
  RunningMoments m;
  for (const double v : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) m.add(v);
  EXPECT_DOUBLE_EQ(m.variance(), 30);
}

TEST(Moments, MergeEqualsOnePass) {
  RunningMoments whole, left, right, empty;
  RandomStream random(1, "merge");
  for (int i = 0; i < 1000; ++i) {
    const double v = random.normal();
    whole.add(v);
    (i < 300 ? left : right).add(v);
  }
  left.merge(empty);
  empty.merge(left);
  empty.merge(right);
  EXPECT_EQ(empty.count(), 1000u);
  EXPECT_NEAR(empty.mean(), whole.mean(), 1e-15);
  EXPECT_NEAR(empty.variance(), whole.variance(), 1e-13);
}

TEST(Correlation, HandWorked) {
  // Deviations (-2, -1, 0, 1, 2) and (-1.8, -0.8, 1.2, 0.2, 1.2): products 3.6 + 0.8 + 0 + 0.2 + 2.4 = 7, squares
  // 4 + 1 + 0 + 1 + 4 = 10 and 3.24 + 0.64 + 1.44 + 0.04 + 1.44 = 6.8.
  const std::vector<double> x = {1, 2, 3, 4, 5};
  const std::vector<double> y = {2, 3, 5, 4, 5};
  EXPECT_NEAR(pearson(x, y), 7 / std::sqrt(10 * 6.8), 1e-15);
}

TEST(Correlation, ExactForLinesAndUndefinedForConstants) {
  const std::vector<double> x = {1, 2, 4};
  const std::vector<double> up = {3, 5, 9};
  const std::vector<double> down = {-1, -2, -4};
  const std::vector<double> flat = {0.1, 0.1, 0.1};
  EXPECT_DOUBLE_EQ(pearson(x, up), 1);
  EXPECT_DOUBLE_EQ(pearson(x, down), -1);
  EXPECT_TRUE(std::isnan(pearson(x, flat)));
  EXPECT_TRUE(std::isnan(pearson(flat, x)));
  EXPECT_TRUE(std::isnan(pearson(std::vector<double>{1}, std::vector<double>{1})));
}

TEST(Correlation, RoundingNoiseIsNotVariance) {
  const std::vector<double> x = {1, 2, 3, 4};
  const double noisy = 0.1 + 0.2;  // one unit in the last place above 0.3
  EXPECT_TRUE(std::isnan(pearson(x, std::vector<double>{0.3, noisy, 0.3, noisy})));
  EXPECT_NEAR(pearson(x, std::vector<double>{1e-100, 2e-100, 3e-100, 4e-100}) - 1, 0, 1e-12);
}

TEST(Correlation, MergeEqualsOnePass) {
  RunningCorrelation whole, left, right;
  RandomStream random(2, "merge");
  for (int i = 0; i < 1000; ++i) {
    const double x = random.normal();
    const double y = 0.5 * x + random.normal();
    whole.add(x, y);
    (i % 3 == 0 ? left : right).add(x, y);
  }
  left.merge(right);
  EXPECT_NEAR(left.correlation(), whole.correlation(), 1e-14);
}

TEST(Moments, MergingIntoNothingKeepsTheBits) {
  RunningMoments some, none;
  for (const double v : {0.1, 0.7, 1e9}) some.add(v);
  none.merge(some);
  EXPECT_EQ(none.mean(), some.mean());
  EXPECT_EQ(none.variance(), some.variance());
}

TEST(Quantile, LeavesUndefinedOutAndKnowsInfinity) {
  std::vector<double> holes = {3, kNaN, 1, 2, kNaN, 5};
  EXPECT_EQ(quantile(holes, 0.5), 2.5);
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> infinite = {1, infinity, infinity};
  EXPECT_EQ(quantile(infinite, 0.75), infinity);
}

TEST(Quantile, EdgesAndEmpty) {
  std::vector<double> values = {3, 1, 2};
  EXPECT_EQ(quantile(values, 0), 1);
  EXPECT_EQ(quantile(values, 1), 3);
  EXPECT_EQ(quantile(values, 0.25), 1.5);
  std::vector<double> none;
  EXPECT_TRUE(std::isnan(quantile(none, 0.5)));
}

TEST(StudentT, ClosedForms) {
  for (const double t : {-5.0, -0.3, 0.0, 1.0, 12.0}) {
    EXPECT_NEAR(student_t_cdf(t, 1), 0.5 + std::atan(t) / std::numbers::pi, 1e-14);
    EXPECT_NEAR(student_t_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-14);
  }
}

TEST(Bootstrap, CoversTheMeanAndRepeatsItself) {
  int covered = 0;
  constexpr int kTrials = 400;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    RandomStream random(trial, "sample");
    std::vector<double> values(60);
    for (auto& v : values) v = 3 + random.normal();
    const auto [low, high] = bootstrap_mean(values, 0.95, 500, trial);
    if (low <= 3 && 3 <= high) ++covered;
  }
  // 95 % of 400 is 380 with a deviation of 4.4; the percentile interval is a little narrow at n = 60.
  EXPECT_GE(covered, 355);
  EXPECT_LE(covered, 397);
  const std::vector<double> few = {1, 2, kNaN, 4};
  EXPECT_EQ(bootstrap_mean(few, 0.9, 200, 5).low, bootstrap_mean(few, 0.9, 200, 5).low);
  EXPECT_FALSE(std::isnan(bootstrap_mean(few, 0.9, 200, 5).high));
  EXPECT_TRUE(std::isnan(bootstrap_mean(std::vector<double>{kNaN}, 0.9, 200, 5).low));
}

// 0 .. n - 1 in order: the mean's standard error is sqrt((n^2 - 1) / 12 / n), whatever the order; with 4,000 draws an
// end of the interval has a relative error of about 3 %.
TEST(Bootstrap, ManyValuesAreDrawnInGroups) {
  constexpr size_t kCount = 20001;
  std::vector<double> values(kCount);
  std::iota(values.begin(), values.end(), 0.0);
  const double n = kCount;
  const double half = 1.959964 * std::sqrt((n * n - 1) / 12 / n);
  const auto [low, high] = bootstrap_mean(values, 0.95, 4000, 1);
  EXPECT_NEAR(low, (n - 1) / 2 - half, 0.08 * half);
  EXPECT_NEAR(high, (n - 1) / 2 + half, 0.08 * half);
  EXPECT_EQ(bootstrap_mean(values, 0.95, 50, 3).low, bootstrap_mean(values, 0.95, 50, 3).low);
}

TEST(PairedT, DegenerateCases) {
  const std::vector<double> a = {1, 2, 3};
  EXPECT_EQ(paired_t_test(a, a).p_value, 1);
  const std::vector<double> shifted = {2, 3, 4};
  EXPECT_EQ(paired_t_test(a, shifted).p_value, 0);
  const std::vector<double> holes = {kNaN, 5, kNaN};
  EXPECT_EQ(paired_t_test(a, holes).pairs, 1u);
  EXPECT_TRUE(std::isnan(paired_t_test(a, holes).p_value));
}

TEST(PairedPermutation, ExactByHand) {
  // Differences 1, 2, 3: of the 8 sign patterns only +++ and --- reach |sum| = 6.
  const std::vector<double> first = {2, 4, 6};
  const std::vector<double> second = {1, 2, 3};
  EXPECT_DOUBLE_EQ(paired_permutation_test(first, second, 100, 1).p_value, 2.0 / 8);
}

TEST(PairedPermutation, AnInfiniteDifferenceIsUndefined) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> first = {infinity, 1, 2};
  const std::vector<double> second = {1, 2, 4};
  EXPECT_TRUE(std::isnan(paired_permutation_test(first, second, 100, 1).p_value));
}

TEST(PairedPermutation, SampledAgreesWithExact) {
  RandomStream random(4, "pairs");
  std::vector<double> first(12), second(12);
  for (auto& v : first) v = random.normal() + 0.4;
  for (auto& v : second) v = random.normal();
  const double exact = paired_permutation_test(first, second, 1 << 12, 1).p_value;
  const double sampled = paired_permutation_test(first, second, 4000, 1).p_value;
  EXPECT_NEAR(sampled, exact, 5 * std::sqrt(exact * (1 - exact) / 4000) + 1.0 / 4000);
  EXPECT_EQ(sampled, paired_permutation_test(first, second, 4000, 1).p_value);
}

// Numbers made by SciPy; tests/peers/make_golden.py writes them and checks that they still hold.
TEST(Golden, AgreesWithSciPy) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/core/golden_statistics.json");
  ASSERT_TRUE(file) << "golden_statistics.json is missing";
  const auto golden = nlohmann::json::parse(file);
  for (const auto& point : golden.at("student_t_cdf")) {
    const double expected = point[2];
    // As the header promises, 1e-10 relative; and absolutely far better, which is what p-values near 1 need.
    EXPECT_NEAR(student_t_cdf(point[0], point[1]), expected, std::min(1e-12, 1e-10 * expected))
        << "t = " << point[0] << ", degrees = " << point[1];
  }
  for (const auto& pair : golden.at("paired_t")) {
    const auto test =
        paired_t_test(pair.at("first").get<std::vector<double>>(), pair.at("second").get<std::vector<double>>());
    EXPECT_NEAR(test.p_value, pair.at("p").get<double>(), 1e-12);
    EXPECT_NEAR(test.mean_difference / test.standard_error, pair.at("statistic").get<double>(), 1e-10);
  }
  for (const auto& entry : golden.at("quantile")) {
    auto values = entry.at("values").get<std::vector<double>>();
    EXPECT_NEAR(quantile(values, entry.at("q")), entry.at("value").get<double>(), 1e-13);
  }
  for (const auto& entry : golden.at("holm")) {
    const auto adjusted = holm_adjusted(entry.at("p").get<std::vector<double>>());
    const auto expected = entry.at("adjusted").get<std::vector<double>>();
    ASSERT_EQ(adjusted.size(), expected.size());
    for (size_t i = 0; i < adjusted.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
  }
}

TEST(Holm, LeavesUndefinedOut) {
  const auto adjusted = holm_adjusted(std::vector<double>{0.01, kNaN, 0.04});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.02);
  EXPECT_TRUE(std::isnan(adjusted[1]));
  EXPECT_DOUBLE_EQ(adjusted[2], 0.04);
}

}  // namespace
}  // namespace assay

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/agreement/rank_statistics.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// Small whole numbers: many ties.
std::vector<double> random_values(size_t count, uint64_t row) {
  RandomStream stream(6, "rank_correlation test", row);
  std::vector<double> values(count);
  for (double& v : values) v = static_cast<double>(stream.below(6)) - 2;
  return values;
}

// 1 + values below + half of the equal others.
std::vector<double> direct_ranks(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double v : values) {
    double rank = 0.5;
    for (const double other : values) rank += other < v ? 1 : other == v ? 0.5 : 0;
    ranks.push_back(rank);
  }
  return ranks;
}

double direct_tau_b(const std::vector<double>& a, const std::vector<double>& b) {
  const auto order = [](double x, double y) { return (x > y) - (x < y); };
  double sum = 0;
  double untied_a = 0;
  double untied_b = 0;
  for (size_t i = 0; i < a.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      sum += order(a[i], a[j]) * order(b[i], b[j]);
      untied_a += std::abs(order(a[i], a[j]));
      untied_b += std::abs(order(b[i], b[j]));
    }
  }
  return sum / std::sqrt(untied_a * untied_b);
}

Trial trial_with(const std::vector<std::vector<float>>& mine, const std::vector<const Explanations*>& others) {
  Trial trial = bare_trial(mine);
  trial.others = others;
  for (size_t i = 0; i < others.size(); i++) trial.other_names.push_back(fmt::format("method {}", i));
  return trial;
}

// Sizes 1, 2, 3, 4 against 2, 1, 3, 4: rho = 1 - 6 (1 + 1) / (4 x 15) = 0.8; one of six pairs disagrees, tau = 4/6.
// With signs, -1, 2, 3, 4 against 2, -1, 3, 4 have the same ranks as the sizes; -4 instead of 4 comes first.
TEST(RankCorrelation, OfFourPlayers) {
  const Explanations other = explanations_of(matrix_of({{2, 1, 3, -4}}));
  Trial trial = trial_with({{-1, 2, 3, 4}}, {&other});
  EXPECT_DOUBLE_EQ(scored("rank_correlation", "", trial).values[0], 0.8);
  EXPECT_DOUBLE_EQ(scored("rank_correlation", ":coefficient=kendall", trial).values[0], 4.0 / 6);
  // Signed ranks 1, 2, 3, 4 against 3, 2, 4, 1: rho = 1 - 6 (4 + 0 + 1 + 9) / 60 = -0.4; four of six pairs disagree.
  EXPECT_NEAR(scored("rank_correlation", ":order=signed", trial).values[0], -0.4, 1e-15);
  EXPECT_NEAR(scored("rank_correlation", ":order=signed:coefficient=kendall", trial).values[0], -2.0 / 6, 1e-15);
}

// Two others: 1 and -1 at the first row; the second row is constant in one of them, and 1 in the other.
TEST(RankCorrelation, IsTheMeanOverTheOthersWithATableForEach) {
  const Explanations same = explanations_of(matrix_of({{1, 2, 3}, {2, 4, 9}}));
  const Explanations reverse = explanations_of(matrix_of({{3, 2, 1}, {1, -1, 1}}));
  Trial trial = trial_with({{1, 2, 3}, {1, 2, 3}}, {&same, &reverse});
  const Scores found = scored("rank_correlation", "", trial);
  EXPECT_NEAR(found.values[0], 0, 1e-15);
  EXPECT_DOUBLE_EQ(found.values[1], 1);
  ASSERT_EQ(found.tables.size(), 1U);
  ASSERT_EQ(found.tables[0].labels.size(), 2U);
  EXPECT_EQ(found.tables[0].labels[0], "method 0");
  EXPECT_DOUBLE_EQ(found.tables[0].rows[0][0], 1);
  EXPECT_EQ(found.tables[0].rows[0][2], 2);
  EXPECT_DOUBLE_EQ(found.tables[0].rows[1][0], -1);
  EXPECT_EQ(found.tables[0].rows[1][2], 1);
}

TEST(RankCorrelation, WithoutAnOrderItIsUndefined) {
  const Explanations other = explanations_of(matrix_of({{1, 2}, {1, 2}, {1, 2}, {NAN, 2}, {0, 0}}));
  Trial trial = trial_with({{1, -1}, {0, 0}, {NAN, 1}, {1, 2}, {1, 2}}, {&other});
  const Scores found = scored("rank_correlation", "", trial);
  for (const double value : found.values) EXPECT_TRUE(std::isnan(value));
  ASSERT_EQ(found.undefined.size(), 3U);
  EXPECT_EQ(found.undefined[0].rows, 2U);
  EXPECT_EQ(found.undefined[1].rows, 2U);
  EXPECT_EQ(found.undefined[2].reason, "an explanation ranks all players the same");
  // With signs (1, -1) has an order.
  EXPECT_DOUBLE_EQ(scored("rank_correlation", ":order=signed", trial).values[0], -1);
  const Explanations one = explanations_of(matrix_of({{3}}));
  Trial single = trial_with({{2}}, {&one});
  EXPECT_TRUE(std::isnan(scored("rank_correlation", "", single).values[0]));
  EXPECT_TRUE(std::isnan(scored("rank_correlation", ":coefficient=kendall", single).values[0]));
}

TEST(RankCorrelation, EqualsTheDirectForms) {
  for (uint64_t row = 0; row < 200; row++) {
    const size_t players = 2 + row / 4;
    const std::vector<double> a = random_values(players, 2 * row);
    const std::vector<double> b = random_values(players, 2 * row + 1);
    const double tau = direct_tau_b(a, b);
    if (std::isnan(tau)) {
      EXPECT_TRUE(std::isnan(kendall_tau_b(a, b)));
      EXPECT_TRUE(std::isnan(spearman(a, b)));
      continue;
    }
    EXPECT_NEAR(kendall_tau_b(a, b), tau, 1e-12);
    EXPECT_NEAR(spearman(a, b), pearson(direct_ranks(a), direct_ranks(b)), 1e-12);
  }
}

// Both are symmetric, at most 1, 1 with itself, and see orders alone: a growing function changes nothing.
TEST(RankCorrelation, SeesOrdersAlone) {
  for (uint64_t row = 0; row < 100; row++) {
    std::vector<double> a = random_values(12, 1000 + row);
    const std::vector<double> b = random_values(12, 2000 + row);
    const double rho = spearman(a, b);
    const double tau = kendall_tau_b(a, b);
    EXPECT_LE(std::abs(rho), 1 + 1e-15);
    EXPECT_LE(std::abs(tau), 1);
    EXPECT_NEAR(spearman(b, a), rho, 1e-15);
    EXPECT_NEAR(kendall_tau_b(b, a), tau, 1e-15);
    EXPECT_NEAR(kendall_tau_b(a, a), 1, 1e-15);
    for (double& v : a) v = std::exp(v);
    EXPECT_NEAR(spearman(a, b), rho, 1e-15);
    EXPECT_NEAR(kendall_tau_b(a, b), tau, 1e-15);
  }
}

TEST(RankCorrelation, BitsDoNotDependOnThreads) {
  RandomStream stream(7, "rank_correlation test");
  Matrix mine(300, 8);
  Matrix theirs(300, 8);
  for (float& v : mine.values()) v = static_cast<float>(stream.normal());
  for (float& v : theirs.values()) v = static_cast<float>(stream.normal());
  const Explanations other = explanations_of(theirs);
  Trial trial{explanations_of(mine)};
  trial.others = {&other};
  expect_same_scores_on_threads("rank_correlation", "", trial);
  EXPECT_EQ(scored("rank_correlation", "", trial).tables.at(0).labels.at(0), "explanations 1");
}

}  // namespace
}  // namespace assay::testing

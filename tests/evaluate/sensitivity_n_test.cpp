#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/error.h"
#include "tests/evaluate/subsets/subset_trials.h"

namespace assay::testing {
namespace {

// x1 + 2 x2 + 3 x3 + x1 x2 at (1, 1, 1) against 0, attributions 1, 2, 3. Singles: losses 2, 3, 3, r = sqrt(3)/2; pairs:
// losses 4, 5, 6 for sums 3, 4, 5, r = 1 (worked out in the tests of faithfulness).
TEST(SensitivityN, ByHand) {
  const auto model = black_box_model(3, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = x(r, 0) + 2 * x(r, 1) + 3 * x(r, 2) + x(r, 0) * x(r, 1);
  });
  Trial trial = trial_of(setting_of(model, matrix_of({{1, 1, 1}}), matrix_of({{0, 0, 0}})), matrix_of({{1, 2, 3}}));
  const Scores scores = scored("sensitivity_n", "", trial);
  EXPECT_NEAR(scores.values[0], (std::sqrt(3) / 2 + 1) / 2, 1e-12);
  EXPECT_TRUE(scores.standard_error.empty());
  EXPECT_EQ(scores.evaluations, 6U);
  const ScoreTable& table = scores.tables.at(0);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_NEAR(table.rows[0][1], std::sqrt(3) / 2, 1e-12);
  EXPECT_NEAR(table.rows[1][1], 1, 1e-12);
  EXPECT_EQ(table.rows[1][0], 2);
  EXPECT_EQ(table.rows[1][3], 1);
  EXPECT_EQ(table.rows[1][4], 3);
}

TEST(SensitivityN, SpreadsSizes) {
  const auto spread_sizes = [](size_t players, size_t most) {
    Trial trial = linear_trial(players, 1, 3);
    const Scores scores = scored("sensitivity_n", fmt::format(":budget=0:samples=50:sizes={}", most), trial);
    std::vector<double> sizes;
    for (const std::vector<double>& row : scores.tables.at(0).rows) sizes.push_back(row[0]);
    return sizes;
  };
  EXPECT_EQ(spread_sizes(2, 32), (std::vector<double>{1}));
  EXPECT_EQ(spread_sizes(6, 32), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(spread_sizes(11, 4), (std::vector<double>{1, 4, 7, 10}));
  EXPECT_EQ(spread_sizes(11, 1), (std::vector<double>{1}));
  for (const size_t most : {2, 7, 31, 32, 256}) {
    const std::vector<double> sizes = spread_sizes(784, most);
    EXPECT_EQ(sizes.size(), most);
    EXPECT_EQ(sizes.front(), 1);
    EXPECT_EQ(sizes.back(), 783);
    for (size_t i = 1; i < sizes.size(); i++) EXPECT_LT(sizes[i - 1], sizes[i]);
  }
}

// The mean of faithfulness over sizes, and the table its mean over rows.
TEST(SensitivityN, IsTheMeanOfFaithfulnessOverSizes) {
  Trial trial = network_trial({.columns = 12, .rows = 8, .references = 3}, 6);
  const Scores scores = scored("sensitivity_n", "", trial);
  std::vector<double> sums(8, 0);
  for (size_t size = 1; size < 6; size++) {
    const Scores of_size = scored("faithfulness", fmt::format(":subset={}", size), trial);
    for (size_t r = 0; r < 8; r++) sums[r] += of_size.values[r] / 5;
    EXPECT_NEAR(scores.tables.at(0).rows.at(size - 1)[1], of_size.mean, 1e-5);
    EXPECT_NEAR(scores.tables.at(0).rows.at(size - 1)[2], of_size.mean_error, 1e-5);
  }
  for (size_t r = 0; r < 8; r++) EXPECT_NEAR(scores.values[r], sums[r], 1e-5);
}

TEST(SensitivityN, APerfectExplanationOfALinearModelHasOne) {
  Trial trial = linear_trial(9, 5, 2, 3);
  for (const char* options : {"", ":budget=60:samples=50", ":sizes=3"}) {
    for (const double r : scored("sensitivity_n", options, trial).values) EXPECT_NEAR(r, 1, 1e-6) << options;
  }
}

// Errors in units of their standard errors, over rows and seeds.
TEST(SensitivityN, StandardErrorsCoverTheExactValue) {
  Trial trial = network_trial({.players = 10, .columns = 10, .rows = 20}, 6);
  const Scores exact = scored("sensitivity_n", "", trial);
  RunningMoments squares;
  for (uint64_t seed = 0; seed < 20; seed++) {
    const Scores drawn = scored("sensitivity_n", ":budget=0:samples=50", trial, on_threads(1, seed));
    ASSERT_EQ(drawn.standard_error.size(), 20U);
    for (size_t r = 0; r < 20; r++) {
      const double z = (drawn.values[r] - exact.values[r]) / drawn.standard_error[r];
      squares.add(z * z);
    }
  }
  EXPECT_GT(std::sqrt(squares.mean()), 0.8);
  EXPECT_LT(std::sqrt(squares.mean()), 1.25);
}

TEST(SensitivityN, TheMeanHasTheErrorOfTheSubsetsThatRowsShare) {
  Trial trial = alike_trial(10, 40, 3);
  expect_mean_spreads_by_shared_error("sensitivity_n", ":budget=0:samples=60", trial);
  EXPECT_EQ(scored("sensitivity_n", "", trial).shared_error, 0) << "all subsets are there";
  // The curve as well: at size 5 with 60 of 252 subsets, over seeds.
  RunningMoments means;
  RunningMoments squares;
  for (uint64_t seed = 0; seed < 200; seed++) {
    const Scores scores = scored("sensitivity_n", ":budget=0:samples=60", trial, on_threads(1, seed));
    means.add(scores.tables.at(0).rows.at(4)[1]);
    squares.add(std::pow(scores.tables.at(0).rows.at(4)[2], 2));
  }
  EXPECT_LT(means.standard_deviation(), 1.1 * std::sqrt(squares.mean()));
  EXPECT_GT(means.standard_deviation(), 0.6 * std::sqrt(squares.mean()));
  const Scores one = scored("sensitivity_n", ":budget=0:samples=60", trial, on_threads(1));
  const Scores seven = scored("sensitivity_n", ":budget=0:samples=60", trial, on_threads(7));
  EXPECT_EQ(one.shared_error, seven.shared_error);
  EXPECT_THROW(find_criterion("sensitivity_n").make(parse_spec("criterion", "sensitivity_n:samples=49")), Error);
}

TEST(SensitivityN, LeavesOutSizesThatAreUndefined) {
  // The value is 1 unless all three players are gone but one: singles change nothing, pairs do.
  const auto model = black_box_model(3, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) {
      const bool one_left = x(r, 0) + x(r, 1) + x(r, 2) < 2;
      out(r, 0) = one_left ? x(r, 0) + 2 * x(r, 1) : 3;
    }
  });
  Trial trial = trial_of(setting_of(model, matrix_of({{1, 1, 1}}), matrix_of({{0, 0, 0}})), matrix_of({{1, 2, 0}}));
  const Scores scores = scored("sensitivity_n", "", trial);
  // Left alone, players 1, 2, 3 give 1, 2, 0: losses 2, 1, 3 for the pairs 23, 13, 12 of sums 2, 1, 3.
  EXPECT_NEAR(scores.values[0], 1, 1e-12);
  EXPECT_EQ(scores.tables.at(0).rows.at(0)[3], 0) << "no row is defined at size 1";
  EXPECT_TRUE(std::isnan(scores.tables.at(0).rows.at(0)[1]));
}

TEST(SensitivityN, UndefinedAndRefused) {
  Trial constant =
      trial_of(setting_of(constant_model(3, 5), matrix_of({{1, 2, 3}, {1, 1, 1}, {2, 2, 2}}), matrix_of({{0, 0, 0}})),
               matrix_of({{1, 2, 3}, {0, 0, 0}, {1, NAN, 1}}));
  const Scores scores = scored("sensitivity_n", "", constant);
  EXPECT_EQ(scores.coverage, 0);
  EXPECT_EQ(scores.undefined.size(), 3U);
  Trial one = linear_trial(1, 2, 0);
  const auto criterion = find_criterion("sensitivity_n").make(parse_spec("criterion", "sensitivity_n"));
  EXPECT_EQ(criterion->refuses(one.task()), "needs two players or more, and there is 1");
}

TEST(SensitivityN, SameBitsOnAnyNumberOfThreads) {
  Trial trial = network_trial({.players = 12, .columns = 20, .rows = 20, .references = 2}, 8);
  expect_same_scores_on_threads("sensitivity_n", ":budget=30:samples=50", trial);
}

}  // namespace
}  // namespace assay::testing

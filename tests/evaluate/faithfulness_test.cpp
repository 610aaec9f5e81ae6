#include "assay/evaluate/faithfulness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "tests/evaluate/subsets/subset_trials.h"

namespace assay::testing {
namespace {

// x1 + 2 x2 + 3 x3 + x1 x2, a black box; at (1, 1, 1) it is 7, at the reference (0, 0, 0) it is 0.
Trial by_hand(std::vector<float> phi) {
  const auto model = black_box_model(3, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = x(r, 0) + 2 * x(r, 1) + 3 * x(r, 2) + x(r, 0) * x(r, 1);
  });
  return trial_of(setting_of(model, matrix_of({{1, 1, 1}}), matrix_of({{0, 0, 0}})), matrix_of({std::move(phi)}));
}

// Singles: without 1 the value is 5, without 2 or 3 it is 4: losses 2, 3, 3, which deviate by -2/3, 1/3, 1/3 from their
// mean; attributions 1, 2, 3 by -1, 0, 1. Products 2/3 + 1/3 = 1, squares 2 and 6/9: r = 1 / sqrt(12/9) = sqrt(3)/2.
// Pairs 12, 13, 23: sums 3, 4, 5; values 3, 2, 1, losses 4, 5, 6: r = 1.
TEST(Faithfulness, ByHand) {
  Trial trial = by_hand({1, 2, 3});
  const Scores singles = scored("faithfulness", ":subset=1", trial);
  EXPECT_NEAR(singles.values[0], std::sqrt(3) / 2, 1e-12);
  EXPECT_TRUE(singles.standard_error.empty()) << "nothing is sampled";
  EXPECT_EQ(singles.evaluations, 3U);
  EXPECT_EQ(singles.notes.at(0), "correlated over all 3 subsets of 1 of 3 players");
  EXPECT_NEAR(scored("faithfulness", ":subset=2", trial).values[0], 1, 1e-12);
  // auto: half of 3, rounded up
  EXPECT_NEAR(scored("faithfulness", "", trial).values[0], 1, 1e-12);
}

TEST(Faithfulness, APerfectExplanationOfALinearModelHasOneAtEverySize) {
  for (const size_t references : {1, 3}) {
    for (const size_t players : {2, 5, 9}) {
      Trial trial = linear_trial(players, 4, players, references);
      for (size_t size = 1; size < players; size++) {
        const std::string options = fmt::format(":subset={}:budget=60:samples=50", size);
        for (const double r : scored("faithfulness", options, trial).values) EXPECT_NEAR(r, 1, 1e-6) << options;
        // Any scale and any positive factor.
        for (float& v : trial.explanations.values.values()) v *= -3;
        for (const double r : scored("faithfulness", options, trial).values) EXPECT_NEAR(r, -1, 1e-6) << options;
        for (float& v : trial.explanations.values.values()) v /= -3;
      }
    }
  }
}

// Random attributions know nothing: their mean over many networks is 0 within its error, at every size.
TEST(Faithfulness, RandomExplanationsAreAroundZero) {
  for (const char* options : {":subset=1", ":subset=3", ":subset=5", ":subset=4:budget=0:samples=50"}) {
    RunningMoments means;
    for (uint64_t seed = 0; seed < 60; seed++) {
      Trial trial = network_trial({.players = 9, .columns = 9, .rows = 5}, seed);
      const Scores scores = scored("faithfulness", options, trial, on_threads(1, seed));
      means.add(scores.mean);
    }
    EXPECT_LT(std::abs(means.mean()), 4 * means.standard_error()) << options;
    EXPECT_LT(means.standard_error(), 0.06) << options << ": enough to tell";
  }
}

double brute_force(const Trial& trial, size_t row, size_t size) {
  std::vector<double> sums;
  std::vector<double> losses;
  const size_t players = trial.explanations.players();
  const double whole = value_without(*trial.setting, row, 0);
  for (uint64_t removed = 0; removed < uint64_t{1} << players; removed++) {
    if (static_cast<size_t>(std::popcount(removed)) != size) continue;
    sums.push_back(0);
    for (size_t p = 0; p < players; p++) {
      if ((removed >> p & 1) != 0) sums.back() += trial.explanations.values(row, p);
    }
    losses.push_back(whole - value_without(*trial.setting, row, removed));
  }
  return pearson(sums, losses);
}

// Games of networks, groups of columns as players, a background, against masked rows in a plain loop.
TEST(Faithfulness, EnumerationAgreesWithMaskedRows) {
  for (const size_t references : {1, 3}) {
    for (const size_t columns : {6, 15}) {
      Trial trial = network_trial({.columns = columns, .references = references}, columns + references);
      for (const size_t size : {1, 2, 3, 5}) {
        const Scores scores = scored("faithfulness", fmt::format(":subset={}", size), trial);
        for (size_t row = 0; row < 5; row++) {
          EXPECT_NEAR(scores.values[row], brute_force(trial, row, size), 2e-4) << columns << " columns";
        }
      }
    }
  }
}

TEST(Faithfulness, TakesBlackBoxes) {
  const auto model = black_box_model(5, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) {
      out(r, 0) = std::sin(x(r, 0)) * x(r, 1) + x(r, 2) * x(r, 3) - x(r, 4) + 0.5F * x(r, 0);
    }
  });
  Trial trial = trial_of(setting_of(model, matrix_of({{1, 2, 3, 4, 5}, {0.5F, -1, 2, 1, 1}}),
                                    matrix_of({{0, 1, 0, 0, 0}, {1, 0, 0, 1, 0}, {0, 0, 2, 0, 1}})),
                         matrix_of({{1, 0, 3, 2, -4}, {0.1F, -1, 2, 0.5F, 0}}));
  const Scores scores = scored("faithfulness", ":subset=2", trial);
  for (size_t row = 0; row < 2; row++) EXPECT_NEAR(scores.values[row], brute_force(trial, row, 2), 1e-6);
  EXPECT_EQ(scores.evaluations, 2U * 3 * 10);
  expect_same_scores_on_threads("faithfulness", ":subset=2", trial);
}

TEST(Faithfulness, SampledScoresAreWithinTheirErrors) {
  Trial trial = network_trial({.players = 12, .columns = 12, .rows = 30}, 5);
  EXPECT_EQ(scored("faithfulness", ":subset=3", trial).notes.at(0),
            "correlated over all 220 subsets of 3 of 12 players");
  // 924 subsets.
  const Scores exact = scored("faithfulness", ":subset=6", trial);
  const Scores drawn = scored("faithfulness", ":subset=6:budget=0:samples=300", trial);
  EXPECT_EQ(drawn.notes.at(0), "correlated over 300 random subsets of 6 of 12 players");
  ASSERT_EQ(drawn.standard_error.size(), 30U);
  for (size_t r = 0; r < 30; r++) {
    EXPECT_GT(drawn.standard_error[r], 0.001);
    EXPECT_LT(std::abs(drawn.values[r] - exact.values[r]), 4.5 * drawn.standard_error[r]) << r;
  }
}

TEST(Faithfulness, TheMeanHasTheErrorOfTheSubsetsThatRowsShare) {
  Trial trial = alike_trial(10, 40, 3);
  expect_mean_spreads_by_shared_error("faithfulness", ":subset=5:budget=0:samples=60", trial);
  EXPECT_EQ(scored("faithfulness", ":subset=5", trial).shared_error, 0) << "all subsets are there";
  const Scores one = scored("faithfulness", ":subset=5:budget=0:samples=60", trial, on_threads(1));
  const Scores seven = scored("faithfulness", ":subset=5:budget=0:samples=60", trial, on_threads(7));
  EXPECT_EQ(one.shared_error, seven.shared_error);
}

// Standard errors are too small below.
TEST(Faithfulness, TakesFiftySubsetsAtLeast) {
  EXPECT_THROW(find_criterion("faithfulness").make(parse_spec("criterion", "faithfulness:samples=49")), Error);
  EXPECT_NE(find_criterion("faithfulness").make(parse_spec("criterion", "faithfulness:samples=50")), nullptr);
}

// 1e6 + x1 + 2 x2 + 3 x3 at (1, 1, 1) against 0: losses are the attributions, and float32 has steps of 1/16 there.
TEST(Faithfulness, SeesEffectsBesideALargeOffset) {
  const auto model = black_box_model(3, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = 1e6F + x(r, 0) + 2 * x(r, 1) + 3 * x(r, 2);
  });
  Trial trial = trial_of(setting_of(model, matrix_of({{1, 1, 1}}), matrix_of({{0, 0, 0}})), matrix_of({{1, 2, 3}}));
  EXPECT_NEAR(scored("faithfulness", ":subset=1", trial).values[0], 1, 1e-9);
  // Games that sum tables are within 3e-6 of what the model predicts, and say so.
  Trial network = network_trial({}, 1);
  const ExplainTask task = network.setting->task();
  EXPECT_GE(make_game(task, {})->rounding(), 3e-6);
  EXPECT_LT(make_masked_game(task, {})->rounding(), 3e-7);
}

TEST(Faithfulness, ARowDoesNotDependOnTheOthers) {
  Trial all = network_trial({.players = 12, .columns = 12}, 3);
  const Scores together = scored("faithfulness", ":subset=6:budget=0:samples=50", all);
  Matrix x(1, 12);
  std::ranges::copy(all.setting->rows.row(3), x.row(0).begin());
  Matrix phi(1, 12);
  std::ranges::copy(all.explanations.values.row(3), phi.row(0).begin());
  Setting setting = *all.setting;
  setting.rows = std::move(x);
  setting.targets = slice_targets(all.setting->targets, 3, 4);
  Trial alone = trial_of(std::move(setting), std::move(phi));
  EXPECT_EQ(scored("faithfulness", ":subset=6:budget=0:samples=50", alone).values[0], together.values[3]);
}

TEST(Faithfulness, IsUndefinedWhereASideIsConstant) {
  Trial constant = trial_of(setting_of(constant_model(3, 1000), matrix_of({{1, 2, 3}}), matrix_of({{0, 0, 0}})),
                            matrix_of({{1, 2, 3}}));
  const Scores flat = scored("faithfulness", ":subset=2", constant);
  EXPECT_TRUE(std::isnan(flat.values[0]));
  EXPECT_EQ(flat.undefined.at(0).reason, "the model's value is the same for all subsets");
  EXPECT_EQ(flat.coverage, 0);

  // 1000 and noise in the last bits that float32 has there, 6e-5.
  const auto noisy = black_box_model(3, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = 1000 + 6.2e-5F * (x(r, 0) * 3 + x(r, 1) - x(r, 2));
  });
  Trial rounding = trial_of(setting_of(noisy, matrix_of({{1, 2, 3}}), matrix_of({{0, 0, 0}})), matrix_of({{1, 2, 3}}));
  EXPECT_TRUE(std::isnan(scored("faithfulness", ":subset=1", rounding).values[0]));

  Trial zero = by_hand({0, 0, 0});
  EXPECT_EQ(scored("faithfulness", "", zero).undefined.at(0).reason, "all attributions are 0");
  Trial equal = by_hand({0.1F, 0.1F, 0.1F});
  EXPECT_EQ(scored("faithfulness", "", equal).undefined.at(0).reason, "attributions are the same for all subsets");
  Trial missing = by_hand({1, NAN, 2});
  EXPECT_EQ(scored("faithfulness", "", missing).undefined.at(0).reason, "attributions are not all numbers");
}

// Half of the players, rounded up.
TEST(Faithfulness, TakesHalfOfThePlayersUnlessToldOtherwise) {
  const std::vector<std::pair<size_t, std::string>> expected = {{2, "all 2 subsets of 1 of 2 players"},
                                                                {3, "all 3 subsets of 2 of 3 players"},
                                                                {4, "all 6 subsets of 2 of 4 players"},
                                                                {5, "all 10 subsets of 3 of 5 players"},
                                                                {8, "all 70 subsets of 4 of 8 players"}};
  for (const auto& [players, words] : expected) {
    Trial trial = network_trial({.players = players, .columns = players, .rows = 3}, 5);
    const Scores half = scored("faithfulness", "", trial);
    EXPECT_EQ(half.notes.at(0), "correlated over " + words);
    const Scores named = scored("faithfulness", fmt::format(":subset={}", (players + 1) / 2), trial);
    for (size_t r = 0; r < 3; r++) EXPECT_EQ(half.values[r], named.values[r]);
  }
}

TEST(Faithfulness, RefusesSizesThatLeaveOneSubset) {
  const auto reason = [](Trial trial, const std::string& options) {
    return refusal_of("faithfulness", options, trial);
  };
  EXPECT_EQ(reason(linear_trial(1, 2, 0), ""), "needs two players or more, and there is 1");
  EXPECT_EQ(reason(linear_trial(3, 2, 0), ":subset=3"), "needs a subset smaller than the 3 players, and subset is 3");
  EXPECT_EQ(reason(linear_trial(3, 2, 0), ":subset=20"), "needs a subset smaller than the 3 players, and subset is 20");
  EXPECT_EQ(reason(linear_trial(3, 49, 0), ":form=pooled"),
            "needs 50 rows or more for its pooled form, and there are 49");
  EXPECT_EQ(reason(linear_trial(3, 50, 0), ":form=pooled"), "");
}

// The caller's own subsets, of any sizes and with repeats: {0}, {1}, {0}, {0, 2} have sums 1, 2, 1, 4 and losses 2, 3,
// 2, 5 in the example by hand (without 0 and 2 the value is 2): losses = sums + 1, r = 1.
TEST(Faithfulness, TakesSubsetsThatAreGiven) {
  Trial trial = by_hand({1, 2, 3});
  const ExplainTask task = trial.setting->task();
  const auto game = make_game(task, {});
  const std::vector<std::vector<uint32_t>> subsets = {{0}, {1}, {0}, {2, 0}};
  EXPECT_NEAR(faithfulness_of(*game, trial.explanations.values.view(), subsets, {})[0], 1, 1e-12);
  // Singles again, in another order.
  const std::vector<std::vector<uint32_t>> singles = {{2}, {0}, {1}};
  EXPECT_NEAR(faithfulness_of(*game, trial.explanations.values.view(), singles, {})[0], std::sqrt(3) / 2, 1e-12);
}

TEST(Faithfulness, SameBitsOnAnyNumberOfThreads) {
  Trial trial = network_trial({.players = 12, .columns = 20, .rows = 70, .references = 2}, 8);
  expect_same_scores_on_threads("faithfulness", "", trial);
  expect_same_scores_on_threads("faithfulness", ":subset=6:budget=10:samples=50", trial);
  expect_same_scores_on_threads("faithfulness", ":form=pooled:runs=3", trial);
}

// 60 equal rows of a linear model: f(x) is the same for all, so a run is the definition with 60 of the subsets, drawn
// with repeats, and a perfect explanation has 1; as the paper prints it, -1.
TEST(PooledFaithfulness, IsTheDefinitionWhereRowsAreEqual) {
  Trial trial = linear_trial(6, 60, 3);
  for (size_t r = 1; r < 60; r++) {
    std::ranges::copy(trial.explanations.values.row(0), trial.explanations.values.row(r).begin());
    std::ranges::copy(trial.data->x.row(0), trial.data->x.row(r).begin());
  }
  const Scores scores = scored("faithfulness", ":form=pooled:subset=2", trial);
  EXPECT_FALSE(scores.of_rows);
  ASSERT_EQ(scores.values.size(), 10U);
  for (const double r : scores.values) EXPECT_NEAR(r, 1, 1e-6);
  for (const auto& row : scores.tables.at(0).rows) {
    EXPECT_NEAR(row[1], -1, 1e-6);
    EXPECT_NEAR(row[2], 1, 1e-6);
  }
  EXPECT_EQ(scores.evaluations, 60U * 11);
  EXPECT_THAT(scores.notes.at(0), ::testing::HasSubstr("the error is that of the subsets alone, not of the rows"));
  EXPECT_EQ(scores.coverage, 1);
}

// Rows that differ: what the text correlates is made again here from the same draws, a prediction at a time.
TEST(PooledFaithfulness, CorrelatesModifiedValuesWithMeanAttributions) {
  Trial trial = network_trial({.columns = 9, .rows = 55, .references = 2}, 4);
  trial.explanations.values(7, 2) = NAN;
  const Scores scores = scored("faithfulness", ":form=pooled:subset=3:runs=2", trial, on_threads(1, 9));
  for (uint32_t run = 0; run < 2; run++) {
    std::vector<double> means;
    std::vector<double> modified;
    std::vector<double> losses;
    for (size_t r = 0; r < 55; r++) {
      if (r == 7) continue;
      std::vector<uint32_t> subset(3);
      RandomStream(9, "faithfulness pooled", r, run).subset(6, subset);
      uint64_t bits = 0;
      double sum = 0;
      for (const uint32_t p : subset) {
        bits |= uint64_t{1} << p;
        sum += trial.explanations.values(r, p);
      }
      means.push_back(sum / 3);
      modified.push_back(value_without(*trial.setting, r, bits));
      losses.push_back(value_without(*trial.setting, r, 0) - modified.back());
    }
    EXPECT_NEAR(scores.values[run], -pearson(means, modified), 1e-6);
    EXPECT_NEAR(scores.tables.at(0).rows.at(run)[1], pearson(means, modified), 1e-6);
    EXPECT_NEAR(scores.tables.at(0).rows.at(run)[2], pearson(means, losses), 1e-6);
  }
  EXPECT_NE(scores.values[0], scores.values[1]);
}

// A perfect explanation of independent features: what is left says nothing about what was taken.
TEST(PooledFaithfulness, MixesRowsOfDifferentValues) {
  Trial trial = linear_trial(6, 4000, 3);
  const Scores scores = scored("faithfulness", ":form=pooled:subset=3:runs=5", trial);
  // 4000 rows: deviation 1 / sqrt(4000) = 0.016.
  for (const double r : scores.values) EXPECT_NEAR(r, 0, 0.08);
  for (const auto& row : scores.tables.at(0).rows) EXPECT_NEAR(row[2], 1, 1e-6);
}

TEST(PooledFaithfulness, IsUndefinedForFewRowsOrConstantSides) {
  Trial few = linear_trial(4, 50, 1);
  few.explanations.values(3, 0) = INFINITY;
  const Scores scores = scored("faithfulness", ":form=pooled", few);
  EXPECT_EQ(scores.undefined.at(0).reason, "fewer than 50 rows have attributions that are all numbers");
  EXPECT_EQ(scores.undefined.at(0).rows, 10U);
  EXPECT_EQ(scores.values.size(), 10U);
  Matrix rows(50, 3);
  for (size_t r = 0; r < 50; r++) rows(r, 0) = static_cast<float>(r);
  Matrix phi = rows;
  Trial constant = trial_of(setting_of(constant_model(3, 2), std::move(rows), matrix_of({{0, 0, 0}})), std::move(phi));
  EXPECT_EQ(scored("faithfulness", ":form=pooled:runs=2", constant).undefined.at(0).rows, 2U);
  Trial zero = linear_trial(4, 50, 1);
  std::ranges::fill(zero.explanations.values.values(), 0.0F);
  EXPECT_EQ(scored("faithfulness", ":form=pooled", zero).coverage, 0);
}

}  // namespace
}  // namespace assay::testing

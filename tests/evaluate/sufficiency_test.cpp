#include <gtest/gtest.h>

#include "assay/evaluate/removal/proportion.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// value = x0 + 2 x1 + 4 x2 at (1, 1, 1), reference 0. phi = (3, -5, 1): 0 joins, then 2; player 1 never does.
// s_m = 0, 1, 5: mean 2. With x1 = -1 the row's own value is 1 - 2 + 4 = 3, and 5 counts as 3: (0 + 1 + 3) / 3.
TEST(Sufficiency, OrderingIsTheMeanOfWhatIsReached) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}, {1, -1, 1}}, {{0, 0, 0}},
                              {{3, -5, 1}, {3, -5, 1}});
  const Scores found = scored("sufficiency", "", trial);
  EXPECT_NEAR(found.values[0], 2, 1e-12);
  EXPECT_NEAR(found.values[1], 4.0 / 3, 1e-12);
  EXPECT_EQ(found.evaluations, 2U + 1 + 6);
}

// The strongest first: shares 0, 3/4, 1 and values 0, 1, 5; the weakest first: 0, 1/4, 1 and 0, 4, 5. Differences at
// 0, 1/4, 3/4, 1: 0, 4 - 1/3, 4 + 2/3 - 1, 0, that is 11/3 twice: 11/24 + 11/6 + 11/24 = 11/4.
TEST(Sufficiency, ProportionalityIsTheAreaBetweenTheTwoWays) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{3, -5, 1}});
  const Scores found = scored("sufficiency", ":form=proportionality", trial);
  EXPECT_NEAR(found.values[0], 2.75, 1e-12);
  EXPECT_EQ(found.direction, Direction::lower);
  // In proportion: 1 to 2 to 4.
  Trial right = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{0.1F, 0.2F, 0.4F}});
  EXPECT_NEAR(scored("sufficiency", ":form=proportionality", right).values[0], 0, 1e-6);
}

// value = x0 + 2 x1 at (1, 1), which is 3, beside the reference rows (0, 0) and (4, 0). phi = (1, 2): player 1 joins
// first. s_m beside each is 0, 2, 3 and 4, 6, 3; in the mean 2, 4, 3, of which 4 counts as 3: 8/3. (Bounded row by row
// it would be 5/3 and 3, in the mean 7/3.)
TEST(Sufficiency, ABackgroundIsAveragedBeforeScoresAreBounded) {
  Trial trial = removal_trial(one_output({1, 2}, OutputUnit::value), {{1, 1}}, {{0, 0}, {4, 0}}, {{1, 2}});
  EXPECT_NEAR(scored("sufficiency", "", trial).values[0], 8.0 / 3, 1e-12);
}

// As for necessity: contributions 1 and 2 beside (0, 0), 0 and 8 beside (1, -3).
TEST(Sufficiency, MeanContributionsOfALinearModelAreProportional) {
  Trial trial = removal_trial(one_output({1, 2}, OutputUnit::value), {{1, 1}}, {{0, 0}, {1, -3}}, {{0.5F, 5}});
  EXPECT_NEAR(scored("sufficiency", ":form=proportionality", trial).values[0], 0, 1e-6);
}

TEST(Sufficiency, OrderingIsWhatPlainLoopsFind) {
  RandomStream random(81, "sufficiency_test");
  const std::vector<uint32_t> of_column = {0, 1, 1, 2, 3};
  const Linear linear = random_linear(random, 5, 3);
  const auto rows = random_rows(random, 20, 5);
  const auto reference = random_rows(random, 2, 5);
  auto phi = random_rows(random, 20, 4);
  for (auto& row : phi) row[1] = std::abs(row[1]);
  Trial made = removal_trial(linear_model(linear, OutputUnit::probability), rows, reference, phi, "2");
  made.setting->players = players_of(of_column, 4);
  const Scores found = scored("sufficiency", "", made);
  for (size_t r = 0; r < rows.size(); r++) {
    const auto positive =
        static_cast<size_t>(std::count_if(phi[r].begin(), phi[r].end(), [](float v) { return v > 0; }));
    const double at_row = plain_softmax(linear.margins({rows[r].begin(), rows[r].end()}))[2];
    double sum = 0;
    for (size_t m = 0; m <= positive; m++) {
      double here = 0;
      for (const auto& absent : reference) {
        const auto x = with_at_reference(rows[r], absent, rest_of(by_value(phi[r]), m), of_column);
        here += plain_softmax(linear.margins(x))[2] / 2;
      }
      sum += std::min(here, at_row) / static_cast<double>(positive + 1);
    }
    EXPECT_NEAR(found.values[r], sum, 1e-6);
  }
}

// 300 positive players, 100 steps: the mean of a straight line from 0 to 3 is 1.5.
TEST(Sufficiency, WideRowsTakeAHundredSteps) {
  Trial trial =
      removal_trial(one_output(std::vector<double>(300, 0.01), OutputUnit::value), {std::vector<float>(300, 1.0F)},
                    {std::vector<float>(300, 0.0F)}, {std::vector<float>(300, 1.0F)});
  const Scores found = scored("sufficiency", "", trial);
  EXPECT_NEAR(found.values[0], 1.5, 1e-5);
  EXPECT_EQ(found.evaluations, 1U + 1 + 101);
  EXPECT_EQ(found.notes.at(0), "100 steps of about 3.0 players each");
}

TEST(Sufficiency, DegenerateRows) {
  Trial trial = removal_trial(one_output({1, 1}), {{1, 1}}, {{0, 0}}, {{-1, -2}});
  EXPECT_EQ(scored("sufficiency", "", trial).undefined.at(0).reason, kNonePositive);
  Trial constant = removal_trial(one_output({0, 0}), {{1, 5}}, {{0, 0}}, {{1, 2}});
  EXPECT_EQ(scored("sufficiency", "", constant).values[0], 0.5);
  // One player: p is 1/2 without it, 1 / (1 + e^-2) with it.
  Trial single = removal_trial(one_output({2}), {{1}}, {{0}}, {{1}});
  EXPECT_NEAR(scored("sufficiency", "", single).values[0], (0.5 + 1 / (1 + std::exp(-2.0))) / 2, 1e-12);
  EXPECT_NEAR(scored("sufficiency", ":form=proportionality", single).values[0], 0, 1e-12);
}

TEST(Sufficiency, RowsOfAClassThatIsNotPredictedAreCounted) {
  Trial trial = one_unpredicted();
  EXPECT_TRUE(has_note(scored("sufficiency", "", trial), kUnpredictedNote));
  Trial predicted = one_unpredicted("predicted");
  EXPECT_TRUE(scored("sufficiency", "", predicted).notes.empty());
}

TEST(Sufficiency, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("sufficiency", ":form=proportionality", trial);
}

}  // namespace
}  // namespace assay::testing

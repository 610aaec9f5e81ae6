#include <gtest/gtest.h>

#include "assay/evaluate/removal/class_score.h"
#include "assay/evaluate/removal/proportion.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// value = x0 + 2 x1 + 4 x2 at (1, 1, 1), reference 0 with value 0. phi = (3, -5, 1): positive are 0, then 2, and player
// 1 stays. s_m = 7, 6, 2: (7 + 6 + 2) / 3 = 5.
TEST(Necessity, OrderingIsTheMeanOfWhatIsLeft) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{3, -5, 1}});
  const Scores found = scored("necessity", "", trial);
  EXPECT_NEAR(found.values[0], 5, 1e-12);
  EXPECT_EQ(found.evaluations, 1U + 1 + 3);
  // What falls under the reference counts as 0: value = x0 - 4 at 1 against x0 = 2: s = -3, and -2 at the reference.
  Trial under = removal_trial(one_output({1}, OutputUnit::value, -4), {{1}}, {{2}}, {{1}});
  EXPECT_EQ(scored("necessity", "", under).values[0], 0);
}

// The strongest first: shares 0, 3/4, 1 and values 7, 6, 2. The weakest first: 0, 1/4, 1 and 7, 3, 2. At share 1/4 the
// first line is at 7 - 1/3 = 20/3, the second at 3; at 3/4 at 6 and at 3 - 2/3 = 7/3. Differences 0, 11/3, 11/3, 0 at
// shares 0, 1/4, 3/4, 1: 11/24 + 11/6 + 11/24 = 11/4.
TEST(Necessity, ProportionalityIsTheAreaBetweenTheTwoWays) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{3, -5, 1}});
  const Scores found = scored("necessity", ":form=proportionality", trial);
  EXPECT_NEAR(found.values[0], 2.75, 1e-12);
  EXPECT_EQ(found.evaluations, 1U + 1 + 6);
}

// value = x0 + 2 x1 at (1, 1) beside the reference rows (0, 0) and (4, 0), of values 0 and 4, so 2. phi = (1, 2):
// player 1 goes first. s_m beside each is 3, 1, 0 and 3, 1, 4; in the mean 3, 1, 2. Above 2 are 1, 0 and 0: 1/3.
// (Bounded row by row it would be (3 + 1 + 0) / 3 and 0, in the mean 2/3.)
TEST(Necessity, ABackgroundIsAveragedBeforeScoresAreBounded) {
  Trial trial = removal_trial(one_output({1, 2}, OutputUnit::value), {{1, 1}}, {{0, 0}, {4, 0}}, {{1, 2}});
  EXPECT_NEAR(scored("necessity", "", trial).values[0], 1.0 / 3, 1e-12);
}

// The contributions of a linear value to its mean over background rows are in proportion to what players do to that
// mean. Beside (0, 0) alone they are 1 and 2, beside (1, -3) they are 0 and 8: in the mean 0.5 and 5.
TEST(Necessity, MeanContributionsOfALinearModelAreProportional) {
  Trial trial = removal_trial(one_output({1, 2}, OutputUnit::value), {{1, 1}}, {{0, 0}, {1, -3}}, {{0.5F, 5}});
  EXPECT_NEAR(scored("necessity", ":form=proportionality", trial).values[0], 0, 1e-6);
}

// Contributions of a linear value, or of a linear margin in log-odds, are in proportion to what they do; the same
// numbers one place further are not.
TEST(Necessity, ContributionsOfALinearModelAreProportional) {
  RandomStream random(71, "necessity_test");
  double wrong = 0;
  for (int trial = 0; trial < 20; trial++) {
    const Linear linear = random_linear(random, 6, 1);
    const auto rows = random_rows(random, 2, 6);
    const auto reference = random_rows(random, 1, 6);
    auto phi = rows;
    for (size_t r = 0; r < 2; r++) {
      for (size_t i = 0; i < 6; i++) {
        phi[r][i] = static_cast<float>(linear.weights[0][i] * (rows[r][i] - reference[0][i]));
      }
    }
    std::rotate(phi[1].begin(), phi[1].begin() + 1, phi[1].end());
    for (const OutputUnit unit : {OutputUnit::value, OutputUnit::margin}) {
      Trial made = removal_trial(linear_model(linear, unit), rows, reference, phi);
      const Scores found = scored("necessity", ":form=proportionality:score=log_odds", made);
      const bool any = *std::max_element(phi[0].begin(), phi[0].end()) > 0;
      EXPECT_EQ(std::isnan(found.values[0]), !any);
      if (any) {
        EXPECT_LT(found.values[0], 1e-5);
      }
      if (!std::isnan(found.values[1])) wrong += found.values[1];
    }
  }
  EXPECT_GT(wrong, 5);
}

// Ordering in plain loops: three classes, a background of three rows, both scores.
TEST(Necessity, OrderingIsWhatPlainLoopsFind) {
  RandomStream random(72, "necessity_test");
  const Linear linear = random_linear(random, 6, 3);
  const auto rows = random_rows(random, 20, 6);
  const auto reference = random_rows(random, 3, 6);
  auto phi = random_rows(random, 20, 6);
  for (auto& row : phi) row[4] = std::abs(row[4]);
  Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, reference, phi, "1");
  for (const bool probability : {true, false}) {
    const Scores found = scored("necessity", probability ? "" : ":score=log_odds", made);
    const auto s = [&](const std::vector<double>& x) {
      const double p = plain_softmax(linear.margins(x))[1];
      return probability ? p : std::log(p / (1 - p));
    };
    for (size_t r = 0; r < rows.size(); r++) {
      const auto positive =
          static_cast<size_t>(std::count_if(phi[r].begin(), phi[r].end(), [](float v) { return v > 0; }));
      ASSERT_GT(positive, 0U);
      double at_reference = 0;
      for (const auto& absent : reference) at_reference += s({absent.begin(), absent.end()}) / 3;
      double sum = 0;
      for (size_t m = 0; m <= positive; m++) {
        double here = 0;
        for (const auto& absent : reference) {
          here += s(with_at_reference(rows[r], absent, first_of(by_value(phi[r]), m))) / 3;
        }
        sum += std::max(here - at_reference, 0.0) / static_cast<double>(positive + 1);
      }
      EXPECT_NEAR(found.values[r], sum, 1e-5);
    }
  }
}

TEST(Necessity, DegenerateRows) {
  Trial trial = removal_trial(one_output({1, 1}), {{1, 1}, {1, 1}, {1, 1}}, {{0, 0}}, {{0, 0}, {-1, 0}, {NAN, 1}});
  const Scores found = scored("necessity", "", trial);
  EXPECT_EQ(found.coverage, 0);
  ASSERT_EQ(found.undefined.size(), 3U);
  bool none_positive = false;
  for (const Undefined& each : found.undefined) none_positive = none_positive || each.reason == kNonePositive;
  EXPECT_TRUE(none_positive);
  // A constant model is at the reference from the start.
  Trial constant = removal_trial(one_output({0, 0}), {{1, 5}}, {{0, 0}}, {{1, 2}});
  EXPECT_EQ(scored("necessity", "", constant).values[0], 0);
  EXPECT_EQ(scored("necessity", ":form=proportionality", constant).values[0], 0);
  // Log-odds of a certain class.
  Trial sure = removal_trial(one_output({200}, OutputUnit::probability), {{1}}, {{0}}, {{1}});
  EXPECT_EQ(scored("necessity", ":score=log_odds", sure).undefined.at(0).reason, kCertain);
  EXPECT_NEAR(scored("necessity", "", sure).values[0], 0.25, 1e-6);
}

TEST(Necessity, RowsOfAClassThatIsNotPredictedAreCounted) {
  Trial trial = one_unpredicted();
  EXPECT_TRUE(has_note(scored("necessity", "", trial), kUnpredictedNote));
  Trial predicted = one_unpredicted("predicted");
  EXPECT_TRUE(scored("necessity", "", predicted).notes.empty());
}

TEST(Necessity, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("necessity", "", trial);
  expect_same_scores_on_threads("necessity", ":form=proportionality", trial);
}

}  // namespace
}  // namespace assay::testing

#include "assay/evaluate/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

Scores summary_of(std::vector<double> values, const SummaryOptions& options = {}) {
  Scores scores;
  scores.values = std::move(values);
  summarise(scores, options, {});
  return scores;
}

// 1, 2, 3 and one undefined: mean 2, variance 1, error 1 / sqrt 3, three of four defined.
TEST(Scores, SummaryLeavesOutTheUndefined) {
  const Scores found = summary_of({1, NAN, 2, 3});
  EXPECT_DOUBLE_EQ(found.mean, 2);
  EXPECT_DOUBLE_EQ(found.mean_error, 1 / std::sqrt(3.0));
  EXPECT_EQ(found.coverage, 0.75);
  EXPECT_GE(found.interval.low, 1);
  EXPECT_LT(found.interval.low, 2);
  EXPECT_GT(found.interval.high, 2);
  EXPECT_LE(found.interval.high, 3);
}

// 1.959963984540054 standard errors each side hold 95 % of a normal distribution.
TEST(Scores, DependentValuesComeWithTheirOwnError) {
  Scores scores;
  scores.values = {1, 2, 3};
  scores.dependent = true;
  scores.mean_error = 7;
  summarise(scores, {}, {});
  EXPECT_EQ(scores.mean_error, 7);
  EXPECT_NEAR(scores.interval.low, 2 - 7 * 1.959963984540054, 1e-12);
  EXPECT_NEAR(scores.interval.high, 2 + 7 * 1.959963984540054, 1e-12);
  scores.mean_error = NAN;
  summarise(scores, {}, {});
  EXPECT_TRUE(std::isnan(scores.mean_error));
  EXPECT_TRUE(std::isnan(scores.interval.low));
}

// Rows 1, 2, 3 have a standard error of 1 / sqrt(3); draws that all share add 2: sqrt(1/3 + 4).
TEST(Scores, DrawsThatAllRowsShareAddTheirError) {
  Scores scores;
  scores.values = {1, 2, 3};
  scores.shared_error = 2;
  summarise(scores, {}, {});
  EXPECT_NEAR(scores.mean_error, std::sqrt(1.0 / 3 + 4), 1e-15);
  EXPECT_LT(scores.interval.low, 2 - 2 * 1.9599);
  EXPECT_GT(scores.interval.high, 2 + 2 * 1.9599);
  EXPECT_GT(scores.interval.low, 2 - std::hypot(1, 2 * 1.96));
}

// Three runs: t of two degrees of freedom has 97.5 % below 4.302653 (tables of Student's t).
TEST(Scores, RunsHaveStudentsInterval) {
  Scores scores;
  scores.of_rows = false;
  scores.values = {1, 2, 3};
  summarise(scores, {}, {});
  EXPECT_NEAR(scores.interval.low, 2 - 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_NEAR(scores.interval.high, 2 + 4.302653 / std::sqrt(3.0), 1e-6);
}

TEST(Scores, SummaryOfNothingIsUndefined) {
  for (const std::vector<double>& values : {std::vector<double>{}, {NAN, NAN}}) {
    const Scores found = summary_of(values);
    EXPECT_TRUE(std::isnan(found.mean));
    EXPECT_TRUE(std::isnan(found.mean_error));
    EXPECT_TRUE(std::isnan(found.interval.low));
    EXPECT_EQ(found.coverage, 0);
  }
  const Scores one = summary_of({5});
  EXPECT_EQ(one.mean, 5);
  EXPECT_TRUE(std::isnan(one.mean_error));
  EXPECT_TRUE(std::isnan(one.interval.low));
  EXPECT_EQ(one.coverage, 1);
}

TEST(Scores, AnInfiniteValueIsDefined) {
  const Scores found = summary_of({1, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(found.coverage, 1);
  EXPECT_EQ(found.mean, std::numeric_limits<double>::infinity());
}

TEST(Scores, NoDrawsNoInterval) {
  const Scores found = summary_of({1, 2, 3}, {.draws = 0});
  EXPECT_TRUE(std::isnan(found.interval.low));
  EXPECT_TRUE(std::isnan(found.interval.high));
  EXPECT_EQ(found.mean, 2);
}

// More confidence is wider, and the same seed gives the same interval.
TEST(Scores, TheIntervalIsThatOfTheConfidence) {
  std::vector<double> values;
  for (int i = 0; i < 50; i++) values.push_back(std::sin(i));
  const Scores narrow = summary_of(values, {.confidence = 0.5});
  const Scores wide = summary_of(values, {.confidence = 0.99});
  EXPECT_LT(wide.interval.low, narrow.interval.low);
  EXPECT_GT(wide.interval.high, narrow.interval.high);
  const Scores again = summary_of(values, {.confidence = 0.99});
  EXPECT_EQ(again.interval.low, wide.interval.low);
  EXPECT_EQ(again.interval.high, wide.interval.high);
}

TEST(Scores, ReasonsAreCountedAndMerged) {
  UndefinedCounts first;
  first.add("a");
  first.add("b", 3);
  first.add("a");
  first.add("nothing", 0);
  UndefinedCounts second;
  second.add("c");
  second.add("a");
  first.merge(second);
  Scores scores;
  scores.undefined = first.take();
  ASSERT_EQ(scores.undefined.size(), 3U);
  EXPECT_EQ(scores.undefined[0].reason, "a");
  EXPECT_EQ(scores.undefined[0].rows, 3U);
  EXPECT_EQ(scores.undefined[1].rows, 3U);
  EXPECT_EQ(scores.undefined[2].reason, "c");
  // Most frequent first; equal ones keep their order.
  scores.undefined[2].rows = 9;
  summarise(scores, {}, {});
  EXPECT_EQ(scores.undefined[0].reason, "c");
  EXPECT_EQ(scores.undefined[1].reason, "a");
  EXPECT_EQ(scores.undefined[2].reason, "b");
}

TEST(Scores, DirectionsHaveNames) {
  EXPECT_EQ(direction_name(Direction::higher), "higher");
  EXPECT_EQ(direction_name(Direction::lower), "lower");
  EXPECT_EQ(direction_name(Direction::neither), "neither");
}

}  // namespace
}  // namespace assay

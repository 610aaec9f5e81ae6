#include "assay/aggregate/ranks/votes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

// |phi|: 3, 1, 3, 0 and 0, 0, 2, 1. By sign: 3, -1, -3, 0 and 0, -0, -2, 1.
TEST(Votes, MarginsByMagnitudeAndByValue) {
  MemberTrial trial = one_row({{3, -1, -3, 0}, {0, -0.0F, -2, 1}});
  const AggregateTask task = trial.task();
  const Votes magnitude(task, 0, false);
  EXPECT_EQ(magnitude.members(), 2U);
  EXPECT_EQ(magnitude.players(), 4U);
  EXPECT_EQ(magnitude.margin(0, 1), 1);   // before, tied
  EXPECT_EQ(magnitude.margin(0, 2), -1);  // tied, behind
  EXPECT_EQ(magnitude.margin(1, 2), -2);
  EXPECT_EQ(magnitude.margin(1, 3), 0);  // before, behind
  EXPECT_EQ(magnitude.margin(2, 3), 2);
  const Votes value(task, 0, true);
  EXPECT_EQ(value.margin(0, 2), 2);
  EXPECT_EQ(value.margin(2, 1), -2);
  EXPECT_EQ(value.margin(0, 1), 1);
  EXPECT_EQ(value.margin(3, 1), 2);
  EXPECT_EQ(value.margin(3, 0), 0);
}

// These two numbers are one when scaled to unit norm, and yet not tied.
TEST(Votes, ComeFromTheAttributionsAsTheyAre) {
  const float large = std::nextafter(2.0F, 0.0F);
  bool rounded = false;
  for (int step = 0; step < 40 && !rounded; step++) {
    const float other = 1.0F + 0.05F * static_cast<float>(step);
    MemberTrial trial = one_row({{large, std::nextafter(large, 0.0F), other}});
    const auto unit = unit_rows(trial, 0)[0];
    rounded = unit[0] == unit[1];
    EXPECT_EQ(Votes(trial.task(), 0, false).margin(0, 1), 1);
  }
  EXPECT_TRUE(rounded);
}

TEST(Votes, RanksOfPointsBreakTiesByIndex) {
  std::vector<float> ranks(5);
  store_ranks(std::vector<int64_t>{2, 7, 2, 9, 7}, ranks);
  EXPECT_EQ(ranks, (std::vector<float>{4, 2, 5, 1, 3}));
}

}  // namespace
}  // namespace assay::testing

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/aggregate/complexity/guarantee.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

const std::string kName = "shrink_then_descend";

TEST(ShrinkThenDescend, OfThePapersExampleHasEntropyZero) {
  MemberTrial trial = one_row({{-1, 0}, {0, 1}});
  EXPECT_EQ(complexity(combined_by(kName, "", trial).values.row(0)), 0);
}

// Unit members (1, 2, 2) / 3 and (-2, 2, 1) / 3: S is (0, 2/3, 5/9), shares 6/11 and 5/11, and both members. From that
// point towards the mean (-1/6, 2/3, 1/2), the third player goes to 1/2: shares 4/7 and 3/7, simpler, H = 0.6829. From
// the mean towards it, the first goes to 0: the same point.
TEST(ShrinkThenDescend, WalksOnFromTheSimplestPointOfTheSegment) {
  MemberTrial trial = one_row({{1, 2, 2}, {-2, 2, 1}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_FLOAT_EQ(made.values(0, 1), 2.0F / 3);
  EXPECT_FLOAT_EQ(made.values(0, 2), 0.5F);
  EXPECT_TRUE(made.combined.weights.empty());
  const double expected = -4.0 / 7 * std::log(4.0 / 7) - 3.0 / 7 * std::log(3.0 / 7);
  EXPECT_NEAR(made.combined.measures[0].values[0], expected, 1e-7);
}

TEST(ShrinkThenDescend, IsNeverMoreComplexThanAMember) {
  expect_simplest_always(kName, "", 0.05, 24);
  expect_simplest_always(kName, ":floor=0:keep=3", 0);
  expect_simplest_always(kName, ":step=fixed:floor=0.5:rounds=2", 0.5, 6, 2);
}

// Walks start from all points of its last set, and never raise entropy; float32 rounds both.
TEST(ShrinkThenDescend, IsNoMoreComplexThanRegionShrinking) {
  size_t simpler = 0;
  for (const size_t players : {2U, 5U, 30U, 784U}) {
    const size_t rows = players > 100 ? 6 : 100;
    MemberTrial trial = random_members(5, rows, players, players);
    const Made made = combined_by(kName, "", trial);
    const Made shrunk = combined_by("region_shrinking", "", trial);
    for (size_t r = 0; r < rows; r++) {
      const double found = made.combined.measures[0].values[r];
      if (std::isnan(found)) continue;
      const double before = shrunk.combined.measures[0].values[r];
      ASSERT_LE(found, before + 1e-6) << players << ", " << r;
      simpler += found < before - 1e-3 ? 1 : 0;
    }
  }
  EXPECT_GT(simpler, 100U);
}

TEST(ShrinkThenDescend, OneMemberStaysAsItIs) {
  MemberTrial trial = random_members(1, 50, 6, 4);
  const Members members(trial.task(), true);
  const Made made = combined_by(kName, "", trial);
  for (size_t r = 0; r < 50; r++) EXPECT_TRUE(std::ranges::equal(made.values.row(r), members.of(0, r))) << r;
}

TEST(ShrinkThenDescend, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(6, 100, 20, 8);
  expect_same_aggregate_on_threads(kName, "", trial);
}

}  // namespace
}  // namespace assay::testing

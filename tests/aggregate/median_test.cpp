#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/aggregate/centroids/losses.h"

namespace assay::testing {
namespace {

Made median(MemberTrial& trial) { return combined_by("median", "", trial); }

// First feature 0.6, 0, -1: 0. Second 0.8, -1, 0: 0. Distances 1.4, 1 and 1.
TEST(Median, OfThreeByHand) {
  MemberTrial trial = one_row({{3, 4}, {0, -2}, {-1, 0}});
  const Made found = median(trial);
  EXPECT_EQ(found.values(0, 0), 0);
  EXPECT_EQ(found.values(0, 1), 0);
  EXPECT_NEAR(measure_of(found, "loss")[0], 3.4, 1e-6);
  EXPECT_EQ(measure_of(found, "bound")[0], measure_of(found, "loss")[0]);
  EXPECT_TRUE(found.combined.weights.empty());
}

// First feature -1, 0, 0.6, 1: between 0 and 0.6. Second 0, 0, 0.8, 1: between 0 and 0.8.
TEST(Median, OfFourIsTheMidpointOfTheMiddleTwo) {
  MemberTrial trial = one_row({{3, 4}, {0, 1}, {-1, 0}, {1, 0}});
  const Made found = median(trial);
  EXPECT_FLOAT_EQ(found.values(0, 0), 0.3F);
  EXPECT_FLOAT_EQ(found.values(0, 1), 0.4F);
}

// One of three may say anything: the median stays between the other two.
TEST(Median, StaysBetweenTheOthersWhateverOneMemberSays) {
  MemberTrial trial = random_members(3, 200, 5, 9);
  for (size_t r = 0; r < 200; r++) {
    for (size_t k = 0; k < 5; k++) trial.members[2].values(r, k) = k == r % 5 ? 1e30F : 0;
  }
  const Made found = median(trial);
  for (size_t r = 0; r < 200; r++) {
    const Points members = unit_rows(trial, r);
    for (size_t k = 0; k < 5; k++) {
      EXPECT_GE(found.values(r, k), std::min(members[0][k], members[1][k]));
      EXPECT_LE(found.values(r, k), std::max(members[0][k], members[1][k]));
    }
  }
}

TEST(Median, HasTheLeastSumOfL1Distances) {
  for (const MemberShape& shape : member_shapes()) {
    MemberTrial trial = random_members(shape.members, shape.rows, shape.players, 12);
    const Made found = median(trial);
    for (size_t r = 0; r < shape.rows; r++) {
      expect_minimal(found, trial, r, {"l1", 1});
      const std::vector<double> expected = median_by_definition(unit_rows(trial, r));
      for (size_t k = 0; k < shape.players; k++) {
        ASSERT_EQ(found.values(r, k), static_cast<float>(expected[k]));
      }
    }
  }
}

TEST(Median, IsTheCentroidOfL1) {
  MemberTrial trial = random_members(6, 200, 6, 2);
  EXPECT_TRUE(same_bits(median(trial).values, combined_by("centroid", ":distance=l1:p=1", trial).values));
}

TEST(Median, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(6, 1000, 6, 2);
  expect_same_aggregate_on_threads("median", "", trial);
}

}  // namespace
}  // namespace assay::testing

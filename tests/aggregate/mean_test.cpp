#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/aggregate/centroids/losses.h"

namespace assay::testing {
namespace {

Made mean(MemberTrial& trial) { return combined_by("mean", "", trial); }

// (3, 4) has norm 5 and (0, -2) has 2: (0.6, 0.8) and (0, -1), whose mean is (0.3, -0.1). Squared distances: both
// 0.3^2 + 0.9^2 = 0.9.
TEST(Mean, OfUnitMembersByHand) {
  MemberTrial trial = one_row({{3, 4}, {0, -2}});
  const Made found = mean(trial);
  EXPECT_FLOAT_EQ(found.values(0, 0), 0.3F);
  EXPECT_FLOAT_EQ(found.values(0, 1), -0.1F);
  EXPECT_NEAR(measure_of(found, "loss")[0], 1.8, 1e-6);
  EXPECT_EQ(measure_of(found, "bound")[0], measure_of(found, "loss")[0]);
  EXPECT_EQ(found.combined.weights(0, 0), 0.5F);
  EXPECT_EQ(found.combined.weights(0, 1), 0.5F);
}

// A zero member counts: the mean is over all three.
TEST(Mean, CountsZeroMembers) {
  MemberTrial trial = one_row({{1, 0}, {0, 0}, {1, 0}});
  EXPECT_FLOAT_EQ(mean(trial).values(0, 0), 2.0F / 3);
}

TEST(Mean, OfOppositeMembersIsZero) {
  MemberTrial trial = one_row({{1, -2, 0.5F}, {-1, 2, -0.5F}});
  const Made found = mean(trial);
  for (size_t k = 0; k < 3; k++) EXPECT_EQ(found.values(0, k), 0);
}

TEST(Mean, OfOneMemberIsThatMember) {
  MemberTrial trial = random_members(1, 30, 7, 5);
  const Made found = mean(trial);
  for (size_t r = 0; r < 30; r++) {
    for (size_t k = 0; k < 7; k++) EXPECT_EQ(found.values(r, k), static_cast<float>(unit_rows(trial, r)[0][k]));
  }
}

TEST(Mean, HasTheLeastSumOfSquares) {
  for (const MemberShape& shape : member_shapes()) {
    MemberTrial trial = random_members(shape.members, shape.rows, shape.players, 11);
    const Made found = mean(trial);
    for (size_t r = 0; r < shape.rows; r++) {
      expect_minimal(found, trial, r, {"l2", 2});
      expect_weights_give_values(found, trial, r);
    }
  }
}

// Proposition 4: whatever explanation is the right one, the mean's error is at most the members' mean error. float32
// moves the mean by less than 1e-7.
TEST(Mean, ErrorIsAtMostTheMeanError) {
  const LossOf loss;
  for (const MemberShape& shape : member_shapes()) {
    MemberTrial trial = random_members(shape.members, shape.rows, shape.players, 13);
    const Made found = mean(trial);
    for (size_t r = 0; r < shape.rows; r++) {
      const Points members = unit_rows(trial, r);
      const auto stored = found.values.row(r);
      const std::vector<double> aggregate(stored.begin(), stored.end());
      RandomStream draw(3, "right explanation", r);
      for (int trials = 0; trials < 5; trials++) {
        std::vector<double> right(shape.players);
        for (double& each : right) each = draw.normal() / (1 + trials);
        double errors = 0;
        for (const auto& member : members) errors += loss.between(right, member);
        ASSERT_LE(loss.between(right, aggregate), errors / static_cast<double>(shape.members) + 1e-7);
      }
    }
  }
}

TEST(Mean, IsTheDefaultCentroid) {
  MemberTrial trial = random_members(5, 200, 6, 2);
  const Made found = mean(trial);
  const Made other = combined_by("centroid", "", trial);
  EXPECT_TRUE(same_bits(found.values, other.values));
  EXPECT_TRUE(same_bits(found.combined.weights, other.combined.weights));
}

TEST(Mean, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(5, 1000, 6, 2);
  expect_same_aggregate_on_threads("mean", "", trial);
}

}  // namespace
}  // namespace assay::testing

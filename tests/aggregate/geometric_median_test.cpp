#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/aggregate/centroids/losses.h"

namespace assay::testing {
namespace {

const LossOf kSumOfDistances{"l2", 1};

Made geometric_median(MemberTrial& trial) { return combined_by("geometric_median", "", trial); }

std::vector<float> at_angle(double degrees) {
  const double radians = degrees * std::numbers::pi / 180;
  return {static_cast<float>(std::cos(radians)), static_cast<float>(std::sin(radians))};
}

// All four pull alike, in opposite directions: the centre, at distance 1 from each.
TEST(GeometricMedian, OfTheCornersOfASquareIsItsCentre) {
  MemberTrial trial = one_row({{1, 0}, {0, 1}, {-1, 0}, {0, -1}});
  const Made found = geometric_median(trial);
  EXPECT_EQ(found.values(0, 0), 0);
  EXPECT_EQ(found.values(0, 1), 0);
  EXPECT_DOUBLE_EQ(measure_of(found, "loss")[0], 4);
  EXPECT_DOUBLE_EQ(measure_of(found, "bound")[0], 4);
}

// By symmetry at (0, y), where the sum is 2 sqrt(1 + y^2) + 1 - y: 2 y / sqrt(1 + y^2) = 1, so 4 y^2 = 1 + y^2 and
// y = 1 / sqrt 3; the sum is 2 x 2 / sqrt 3 + 1 - 1 / sqrt 3 = 1 + sqrt 3. Weights go as 1 / distance: sqrt 3 / 2 twice
// and 1 / (1 - 1 / sqrt 3) = (3 + sqrt 3) / 2, whose sum is (3 + 3 sqrt 3) / 2, so that the third has 1 / sqrt 3.
TEST(GeometricMedian, OfARightTriangle) {
  MemberTrial trial = one_row({{1, 0}, {-1, 0}, {0, 1}});
  const Made found = geometric_median(trial);
  EXPECT_NEAR(found.values(0, 0), 0, 1e-7);
  EXPECT_NEAR(found.values(0, 1), 1 / std::sqrt(3.0), 1e-7);
  EXPECT_NEAR(measure_of(found, "loss")[0], 1 + std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(found.combined.weights(0, 2), 1 / std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(found.combined.weights(0, 0), found.combined.weights(0, 1), 1e-4);
  EXPECT_NE(found.values(0, 1), 1.0F / 3);  // the mean
}

// Angles of at least 120 degrees hold the optimum at their vertex. On a circle the angle at the middle one of three
// points is 180 degrees less half the arc between the others: 160 for 40 degrees of arc.
TEST(GeometricMedian, OfAnObtuseTriangleIsItsVertex) {
  for (const double arc : {1.0, 20.0, 40.0, 80.0, 100.0, 119.0}) {
    MemberTrial trial = one_row({at_angle(10), at_angle(10 + arc), at_angle(10 + arc / 3)});
    const Made found = geometric_median(trial);
    const Points members = unit_rows(trial, 0);
    EXPECT_EQ(found.values(0, 0), members[2][0]) << arc;
    EXPECT_EQ(found.values(0, 1), members[2][1]) << arc;
    EXPECT_EQ(found.combined.weights(0, 2), 1);
    EXPECT_EQ(found.combined.weights(0, 0), 0);
    EXPECT_EQ(measure_of(found, "loss")[0], measure_of(found, "bound")[0]);
  }
  // 130 degrees of arc leave 115 at the vertex: no longer the optimum.
  MemberTrial trial = one_row({at_angle(10), at_angle(140), at_angle(75)});
  const Made found = geometric_median(trial);
  EXPECT_GT(std::abs(found.values(0, 0) - unit_rows(trial, 0)[2][0]), 1e-3);
  expect_minimal(found, trial, 0, kSumOfDistances);
}

// Any point between two is as good; the mean is the one we want.
TEST(GeometricMedian, OfTwoIsTheirMean) {
  MemberTrial trial = random_members(2, 100, 5, 3);
  const Made found = geometric_median(trial);
  for (size_t r = 0; r < 100; r++) {
    const std::vector<double> mean = mean_by_definition(unit_rows(trial, r));
    for (size_t k = 0; k < 5; k++) EXPECT_NEAR(found.values(r, k), mean[k], 1e-7);
    EXPECT_EQ(found.combined.weights(r, 0), 0.5F);
  }
}

// v = (0.6, 0.8), its opposite and the origin lie on a line: the median there.
TEST(GeometricMedian, OnALineIsTheMedian) {
  const std::vector<float> v = {0.6F, 0.8F};
  const std::vector<float> opposite = {-0.6F, -0.8F};
  const std::vector<float> zero = {0, 0};
  const auto along_v = [&](const std::vector<std::vector<float>>& members) {
    MemberTrial trial = one_row(members);
    const Made found = geometric_median(trial);
    EXPECT_NEAR(found.values(0, 0) * 0.8, found.values(0, 1) * 0.6, 1e-7);
    EXPECT_DOUBLE_EQ(measure_of(found, "loss")[0], measure_of(found, "bound")[0]);
    return found.values(0, 0) / 0.6F;
  };
  EXPECT_FLOAT_EQ(along_v({opposite, zero, v}), 0);
  EXPECT_FLOAT_EQ(along_v({v, opposite, v}), 1);
  EXPECT_FLOAT_EQ(along_v({v, v, zero, v}), 1);
  EXPECT_FLOAT_EQ(along_v({v, opposite, zero, v, opposite}), 0);
  EXPECT_FLOAT_EQ(along_v({v, opposite, v, opposite}), 0);
  EXPECT_FLOAT_EQ(along_v({zero, opposite, zero, opposite}), -0.5F);
  // Between the middle ones, 0 and v, while the mean is at 0.25 already: also a minimum, and taken first.
  EXPECT_FLOAT_EQ(along_v({v, opposite, zero, v}), 0.25F);
}

// The unit vectors to three corners of a regular triangle sum to 0: the zero member stays.
TEST(GeometricMedian, StaysAtAMemberThatIsTheOptimum) {
  MemberTrial trial = one_row({{1, 0}, at_angle(120), {0, 0}, at_angle(240)});
  const Made found = geometric_median(trial);
  EXPECT_NEAR(found.values(0, 0), 0, 1e-7);
  EXPECT_NEAR(found.values(0, 1), 0, 1e-7);
  EXPECT_NEAR(measure_of(found, "loss")[0], 3, 1e-7);
  expect_minimal(found, trial, 0, kSumOfDistances);
}

TEST(GeometricMedian, OfEqualMembersIsEachOfThem) {
  for (const size_t count : {1U, 2U, 3U, 7U}) {
    const std::vector<float> member = {0.3F, -2, 0, 5e-3F};
    MemberTrial trial = one_row(std::vector<std::vector<float>>(count, member));
    const Made found = geometric_median(trial);
    const Points members = unit_rows(trial, 0);
    for (size_t k = 0; k < 4; k++) EXPECT_FLOAT_EQ(found.values(0, k), static_cast<float>(members[0][k]));
    EXPECT_NEAR(measure_of(found, "loss")[0], 0, 1e-14);
    EXPECT_FLOAT_EQ(found.combined.weights(0, 0), 1.0F / static_cast<float>(count));
  }
}

// More than half of the members agree: the others do not matter, however far they are.
TEST(GeometricMedian, IsWhereMostMembersAre) {
  MemberTrial trial = one_row({{0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {1, 0, 0}});
  const Made found = geometric_median(trial);
  EXPECT_EQ(found.values(0, 0), 1);
  EXPECT_EQ(found.values(0, 1), 0);
  EXPECT_EQ(found.values(0, 2), 0);
  EXPECT_FLOAT_EQ(found.combined.weights(0, 1), 1.0F / 3);
}

TEST(GeometricMedian, ZeroMembersAloneGiveZero) {
  MemberTrial trial = one_row({{0, 0}, {0, 0}, {0, 0}});
  const Made found = geometric_median(trial);
  EXPECT_EQ(found.values(0, 0), 0);
  EXPECT_EQ(found.values(0, 1), 0);
  EXPECT_EQ(measure_of(found, "loss")[0], 0);
}

TEST(GeometricMedian, IsNeverBeaten) {
  for (const MemberShape& shape : member_shapes()) {
    MemberTrial trial = random_members(shape.members, shape.rows, shape.players, 21);
    const Made found = geometric_median(trial);
    EXPECT_TRUE(found.combined.notes.empty());
    for (size_t r = 0; r < shape.rows; r++) {
      expect_minimal(found, trial, r, kSumOfDistances);
      expect_weights_give_values(found, trial, r);
    }
  }
}

TEST(GeometricMedian, IsNotBeatenOnADenseGrid) {
  MemberTrial trial = random_members(5, 24, 2, 4);
  const Made found = geometric_median(trial);
  for (size_t r = 0; r < 24; r++) {
    const Points members = unit_rows(trial, r);
    const double least = measure_of(found, "loss")[r];
    for (int i = -60; i <= 60; i++) {
      for (int j = -60; j <= 60; j++) {
        ASSERT_GE(kSumOfDistances(members, std::vector<double>{i / 60.0, j / 60.0}), least * (1 - 1e-9)) << "row " << r;
      }
    }
  }
}

// Turning all members turns the result: by 30 degrees in the first two coordinates.
TEST(GeometricMedian, TurnsWithTheMembers) {
  MemberTrial trial = random_members(5, 40, 3, 8);
  MemberTrial turned = trial;
  const double c = std::cos(std::numbers::pi / 6);
  const double s = 0.5;
  for (Explanations& member : turned.members) {
    for (size_t r = 0; r < 40; r++) {
      const double x = member.values(r, 0);
      const double y = member.values(r, 1);
      member.values(r, 0) = static_cast<float>(c * x - s * y);
      member.values(r, 1) = static_cast<float>(s * x + c * y);
    }
  }
  const Made found = geometric_median(trial);
  const Made other = geometric_median(turned);
  for (size_t r = 0; r < 40; r++) {
    // Losses, because on a line the point itself need not be unique.
    EXPECT_NEAR(measure_of(other, "loss")[r], measure_of(found, "loss")[r], 1e-6) << r;
  }
}

TEST(GeometricMedian, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(5, 300, 6, 2);
  expect_same_aggregate_on_threads("geometric_median", "", trial);
}

}  // namespace
}  // namespace assay::testing

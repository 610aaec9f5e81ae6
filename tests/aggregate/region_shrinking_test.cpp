#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "assay/aggregate/complexity/segment.h"
#include "tests/aggregate/complexity/guarantee.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

const std::string kName = "region_shrinking";

// Between (-1, 0) and (0, 1) no player changes its sign: the simplest points are the members, the first of them.
TEST(RegionShrinking, OfThePapersExampleIsAMember) {
  MemberTrial trial = one_row({{-1, 0}, {0, 1}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(complexity(made.values.row(0)), 0);
  EXPECT_EQ(made.values(0, 0), -1);
  EXPECT_EQ(made.combined.weights(0, 0), 1);
  EXPECT_EQ(made.combined.weights(0, 1), 0);
}

// Unit members (1, 2, 2) / 3 and (-2, 2, 1) / 3: the first player is 0 at t = 1/3, the point (0, 2/3, 5/9): shares 6/11
// and 5/11, H = 0.6890 against ln 3 - 0.044 of the members.
TEST(RegionShrinking, OfTwoMembersIsTheMinimumOfTheirSegment) {
  MemberTrial trial = one_row({{1, 2, 2}, {-2, 2, 1}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_FLOAT_EQ(made.values(0, 1), 2.0F / 3);
  EXPECT_FLOAT_EQ(made.values(0, 2), 5.0F / 9);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 0), 2.0F / 3);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 1), 1.0F / 3);
  const double expected = -6.0 / 11 * std::log(6.0 / 11) - 5.0 / 11 * std::log(5.0 / 11);
  EXPECT_NEAR(made.combined.measures[0].values[0], expected, 1e-7);
}

// Halfway between the second and the third member, (-1, 1, 1) and (1, -1, 1) to scale, two players are 0 at once.
TEST(RegionShrinking, CoordinatesThatCrossTogetherVanishTogether) {
  MemberTrial trial = one_row({{1, 1, 1}, {-1, 1, 1}, {1, -1, 1}});
  const Made made = combined_by(kName, ":rounds=1", trial);
  EXPECT_EQ(made.combined.measures[0].values[0], 0);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_EQ(made.values(0, 1), 0);
  EXPECT_FLOAT_EQ(made.values(0, 2), static_cast<float>(1 / std::sqrt(3.0)));
}

// a = (1, 1, 1), b = (-1, 1, 1) and c = (1, -2, 3), to scale: the minimum with two players at 0 is not on a segment
// between members, but on one between a point of the first round and a member.
TEST(RegionShrinking, LaterRoundsGoOn) {
  MemberTrial trial = one_row({{1, 1, 1}, {-1, 1, 1}, {1, -2, 3}});
  const double first = combined_by(kName, ":rounds=1", trial).combined.measures[0].values[0];
  const double later = combined_by(kName, "", trial).combined.measures[0].values[0];
  EXPECT_GT(first, 0.1);
  EXPECT_EQ(later, 0);
}

// In the plane all points on the axes have entropy 0. The longest of the hull is where an edge meets an axis: at t with
// (1 - t) a + t b = 0 for one player's values a and b at the edge's ends.
TEST(RegionShrinking, OfEquallySimplePointsTheLongestIsTheResult) {
  size_t inside = 0;
  for (size_t number = 0; number < 500; number++) {
    RandomStream draw(6, "longest", number);
    std::vector<std::vector<float>> members(3);
    for (auto& member : members) {
      const double angle = 2 * std::numbers::pi * draw.uniform();
      member = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    }
    double longest = 0;
    for (size_t i = 0; i < 3; i++) {
      for (size_t j = 0; j < i; j++) {
        for (size_t k = 0; k < 2; k++) {
          const double a = members[i][k];
          const double b = members[j][k];
          if (a * b < 0)
            longest = std::max(longest, std::abs((b * members[i][1 - k] - a * members[j][1 - k]) / (b - a)));
        }
      }
    }
    if (longest < 0.05) continue;
    MemberTrial trial = one_row(members);
    const Made made = combined_by(kName, "", trial);
    ASSERT_EQ(made.combined.measures[0].values[0], 0);
    ASSERT_NEAR(l1_of(made.values.row(0)), longest, 1e-5) << number;
    inside++;
  }
  EXPECT_GT(inside, 300U);
}

// Opposite members cancel everywhere at once: the floor keeps the origin out.
TEST(RegionShrinking, OppositeMembersGiveAMember) {
  MemberTrial trial = one_row({{1, -2, 3}, {-1, 2, -3}});
  for (const std::string options : {"", ":floor=0"}) {
    const Made made = combined_by(kName, options, trial);
    EXPECT_EQ(made.combined.weights(0, 0), 1);
    EXPECT_FLOAT_EQ(made.values(0, 2), static_cast<float>(3 / std::sqrt(14.0)));
  }
}

TEST(RegionShrinking, IsNeverMoreComplexThanAMember) {
  expect_simplest_always(kName, "", 0.05, 24);
  expect_simplest_always(kName, ":floor=0", 0);
  expect_simplest_always(kName, ":floor=0.6:keep=3:rounds=3", 0.6);
}

// Of two members nothing on the segment between them is simpler, of several nothing on any segment.
TEST(RegionShrinking, IsNeverBeatenOnSegmentsBetweenMembers) {
  for (const size_t count : {2U, 4U}) {
    MemberTrial trial = random_members(count, 60, 9, count);
    const Made made = combined_by(kName, "", trial);
    for (size_t r = 0; r < 60; r++) {
      const auto members = unit_rows(trial, r);
      std::vector<double> point(9);
      for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < a; b++) {
          if (l1_norm(members[a]) == 0 || l1_norm(members[b]) == 0) continue;
          for (size_t i = 0; i <= 500; i++) {
            const double t = static_cast<double>(i) / 500;
            for (size_t k = 0; k < 9; k++) point[k] = (1 - t) * members[a][k] + t * members[b][k];
            if (l1_norm(point) < 0.05) continue;
            ASSERT_LE(made.combined.measures[0].values[r], entropy_of(point) + 1e-6) << r;
          }
        }
      }
    }
  }
}

TEST(RegionShrinking, WeightsAreConvexAndGiveTheValues) {
  for (const size_t players : {1U, 5U, 40U, 784U}) {
    const size_t rows = players > 100 ? 6 : 60;
    MemberTrial trial = random_members(5, rows, players, players + 1);
    const Made made = combined_by(kName, "", trial);
    for (size_t r = 0; r < rows; r++) {
      const auto members = unit_rows(trial, r);
      double sum = 0;
      std::vector<double> same(players, 0.0);
      bool all_zero = true;
      for (size_t j = 0; j < 5; j++) {
        const double weight = made.combined.weights(r, j);
        ASSERT_GE(weight, 0);
        sum += weight;
        ASSERT_TRUE(weight == 0 || l1_norm(members[j]) > 0);
        all_zero = all_zero && l1_norm(members[j]) == 0;
        for (size_t k = 0; k < players; k++) same[k] += weight * members[j][k];
      }
      ASSERT_NEAR(sum, all_zero ? 0 : 1, 1e-6);
      for (size_t k = 0; k < players; k++) ASSERT_NEAR(made.values(r, k), same[k], 1e-6) << r;
    }
  }
}

TEST(RegionShrinking, ZeroMembersTakeNoPart) {
  MemberTrial trial = one_row({{0, 0, 0}, {1, 2, 2}, {-2, 2, 1}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.combined.weights(0, 0), 0);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 1), 2.0F / 3);
  EXPECT_FLOAT_EQ(made.combined.weights(0, 2), 1.0F / 3);
}

TEST(RegionShrinking, RowsThatAreNoNumbersAreUndefined) {
  MemberTrial trial = bare_members({{{1, 2}, {NAN, 1}, {0, 0}}, {{-1, 2}, {1, 1}, {0, 0}}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_TRUE(std::isnan(made.values(1, 0)));
  EXPECT_TRUE(std::isnan(made.combined.weights(1, 0)));
  EXPECT_EQ(made.values(2, 0), 0);
  EXPECT_EQ(made.combined.weights(2, 0), 0);
  EXPECT_TRUE(std::isnan(made.combined.measures[0].values[1]));
}

TEST(RegionShrinking, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(6, 150, 30, 8);
  expect_same_aggregate_on_threads(kName, "", trial);
  expect_same_aggregate_on_threads(kName, ":rounds=3:keep=4", trial);
}

}  // namespace
}  // namespace assay::testing

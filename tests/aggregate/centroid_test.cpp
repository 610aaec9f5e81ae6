#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "assay/aggregate/centroids/hull_coordinates.h"
#include "assay/core/error.h"
#include "assay/evaluate/common.h"
#include "tests/aggregate/centroids/losses.h"

namespace assay::testing {
namespace {

Made centroid(MemberTrial& trial, const LossOf& loss) {
  return combined_by("centroid", fmt::format(":distance={}:p={}", loss.distance, loss.p), trial);
}

const std::vector<LossOf>& all_losses() {
  static const std::vector<LossOf> losses = {{"l2", 1}, {"l2", 1.001}, {"l2", 1.3}, {"l2", 2},    {"l2", 2.5},
                                             {"l2", 4}, {"l2", 30},    {"l1", 1},   {"l1", 1.01}, {"l1", 1.5},
                                             {"l1", 2}, {"l1", 3},     {"l1", 10}};
  return losses;
}

// d = 1, members 0, 1, 1 and p = 3: g^3 + 2 (1 - g)^3 is least where g^2 = 2 (1 - g)^2, g = sqrt 2 / (1 + sqrt 2)
// = 2 - sqrt 2. Both distances are the same there.
TEST(Centroid, OfNumbersWithAPowerOfThree) {
  for (const std::string distance : {"l2", "l1"}) {
    MemberTrial trial = one_row({{0}, {3}, {1}});
    const Made found = centroid(trial, {distance, 3});
    EXPECT_NEAR(found.values(0, 0), 2 - std::sqrt(2.0), 1e-7) << distance;
  }
}

// A path from (1, 0) to (0, 1) has l1 length 2. At the share t of it two members are at 2 t and one at 2 - 2 t:
// 2 (2t)^2 + (2 - 2t)^2 is least at t = 1/3: 2 x 4/9 + 16/9 = 8/3.
TEST(Centroid, L1SquaredByHand) {
  MemberTrial trial = one_row({{1, 0}, {1, 0}, {0, 1}});
  const Made found = centroid(trial, {"l1", 2});
  EXPECT_NEAR(measure_of(found, "loss")[0], 8.0 / 3, 1e-9);
  EXPECT_NEAR(measure_of(found, "bound")[0], 8.0 / 3, 1e-9);
  EXPECT_NEAR(1 - found.values(0, 0) + found.values(0, 1), 2.0 / 3, 1e-6);
  EXPECT_TRUE(found.combined.weights.empty());
}

// (1, 0), (0, 1), (0, 0): with g = (a, b) the squares are (1 - a + b)^2 + (1 + a - b)^2 + (a + b)^2, least at 0 with 2;
// the mean has 2 + 4/9.
TEST(Centroid, L1SquaredAtAMember) {
  MemberTrial trial = one_row({{1, 0}, {0, 1}, {0, 0}});
  const Made found = centroid(trial, {"l1", 2});
  EXPECT_NEAR(measure_of(found, "loss")[0], 2, 1e-9);
  EXPECT_NEAR(found.values(0, 0), 0, 1e-6);
  EXPECT_NEAR(found.values(0, 1), 0, 1e-6);
}

// High powers see the farthest members alone: the centre of the smallest ball. Of points of a circle at 0, 20 and 40
// degrees it is the middle of the outer two, cos 20 degrees along the middle direction.
TEST(Centroid, OfAHighPowerIsTheCentreOfTheSmallestBall) {
  const auto at = [](double degrees) {
    const double radians = degrees * std::numbers::pi / 180;
    return std::vector<float>{static_cast<float>(std::cos(radians)), static_cast<float>(std::sin(radians))};
  };
  MemberTrial trial = one_row({at(0), at(20), at(40)});
  const Made found = centroid(trial, {"l2", 100});
  const double radius = std::cos(std::numbers::pi / 9);
  EXPECT_NEAR(found.values(0, 0), radius * radius, 1e-6);
  EXPECT_NEAR(found.values(0, 1), radius * std::sin(std::numbers::pi / 9), 1e-6);
  EXPECT_LT(found.combined.weights(0, 1), 1e-6F);
}

TEST(Centroid, OfTwoMembersIsTheirMean) {
  for (const LossOf& loss : all_losses()) {
    MemberTrial trial = random_members(2, 40, 4, 6);
    const Made found = centroid(trial, loss);
    for (size_t r = 0; r < 40; r++) {
      const std::vector<double> mean = mean_by_definition(unit_rows(trial, r));
      for (size_t k = 0; k < 4; k++) EXPECT_NEAR(found.values(r, k), mean[k], 1e-7) << loss.distance << loss.p;
    }
  }
}

TEST(Centroid, OfEqualMembersIsEachOfThem) {
  for (const LossOf& loss : all_losses()) {
    for (const size_t count : {1U, 3U, 6U}) {
      const std::vector<float> member = {0.3F, -2, 0, 5e-3F};
      MemberTrial trial = one_row(std::vector<std::vector<float>>(count, member));
      const Made found = centroid(trial, loss);
      for (size_t k = 0; k < 4; k++) {
        EXPECT_FLOAT_EQ(found.values(0, k), static_cast<float>(unit_rows(trial, 0)[0][k])) << loss.distance << loss.p;
      }
      EXPECT_NEAR(measure_of(found, "loss")[0], 0, 1e-14);
    }
  }
}

TEST(Centroid, OfZeroMembersAloneIsZero) {
  for (const LossOf& loss : all_losses()) {
    MemberTrial trial = one_row({{0, 0}, {0, 0}, {0, 0}});
    const Made found = centroid(trial, loss);
    EXPECT_EQ(found.values(0, 0), 0);
    EXPECT_EQ(found.values(0, 1), 0);
    EXPECT_EQ(measure_of(found, "loss")[0], 0);
    EXPECT_EQ(measure_of(found, "bound")[0], 0);
  }
}

// The loss is certified, is that of the values, and no point tried has less.
TEST(Centroid, IsNeverBeaten) {
  for (const LossOf& loss : all_losses()) {
    for (const MemberShape& shape : member_shapes()) {
      const size_t rows = std::max<size_t>(2, shape.rows / 3);
      MemberTrial trial = random_members(shape.members, rows, shape.players, 31);
      const Made found = centroid(trial, loss);
      EXPECT_TRUE(found.combined.notes.empty()) << loss.distance << loss.p;
      EXPECT_EQ(found.combined.weights.empty(), loss.distance == "l1");
      for (size_t r = 0; r < rows; r++) {
        expect_minimal(found, trial, r, loss);
        if (loss.distance == "l2") expect_weights_give_values(found, trial, r);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Centroid, IsNotBeatenOnADenseGrid) {
  MemberTrial line = random_members(4, 20, 1, 14);
  MemberTrial plane = random_members(4, 8, 2, 14);
  for (const LossOf& loss : all_losses()) {
    const Made on_line = centroid(line, loss);
    for (size_t r = 0; r < 20; r++) {
      const Points members = unit_rows(line, r);
      for (int i = -500; i <= 500; i++) {
        ASSERT_GE(loss(members, std::vector<double>{i / 500.0}), measure_of(on_line, "loss")[r] * (1 - 1e-9) - 1e-300);
      }
    }
    const Made on_plane = centroid(plane, loss);
    for (size_t r = 0; r < 8; r++) {
      const Points members = unit_rows(plane, r);
      for (int i = -30; i <= 30; i++) {
        for (int j = -30; j <= 30; j++) {
          ASSERT_GE(loss(members, std::vector<double>{i / 30.0, j / 30.0}),
                    measure_of(on_plane, "loss")[r] * (1 - 1e-9) - 1e-300)
              << loss.distance << loss.p << " row " << r;
        }
      }
    }
  }
}

// Powers so high that rounding may keep l1 from the last digits say how close they came.
TEST(Centroid, HighPowersOfL1AreCertifiedAsFarAsTheySay) {
  const LossOf loss{"l1", 100};
  MemberTrial trial = random_members(5, 150, 8, 31);
  const Made found = centroid(trial, loss);
  size_t open = 0;
  for (size_t r = 0; r < 150; r++) {
    expect_minimal(found, trial, r, loss, 1e-4);
    if (measure_of(found, "bound")[r] < measure_of(found, "loss")[r] * (1 - 1e-9)) open++;
  }
  EXPECT_EQ(found.combined.notes.empty(), open == 0);
  EXPECT_LT(open, 50U);
}

TEST(Centroid, RowsThatAreNoNumbersAreUndefined) {
  MemberTrial trial = bare_members({{{1, 0}, {NAN, 1}, {0, 2}}, {{0, 1}, {1, 1}, {1, 1}}});
  const Made found = centroid(trial, {"l2", 1.5});
  EXPECT_TRUE(std::isnan(found.values(1, 0)));
  EXPECT_TRUE(std::isnan(found.combined.weights(1, 0)));
  EXPECT_TRUE(std::isnan(measure_of(found, "loss")[1]));
  EXPECT_TRUE(std::isnan(measure_of(found, "bound")[1]));
  EXPECT_FALSE(std::isnan(found.values(2, 0)));
  const auto reasons = UndefinedCounts(found.combined.undefined).take();
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].reason, kNotFinite);
  EXPECT_EQ(reasons[0].rows, 1U);
}

TEST(Centroid, PowersBelowOneAndOtherDistancesAreRefused) {
  for (const std::string options : {":p=0.5", ":p=101", ":distance=cosine", ":power=2"}) {
    EXPECT_THROW(make_aggregator("centroid" + options), Error) << options;
  }
}

TEST(Centroid, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(5, 120, 6, 2);
  for (const LossOf& loss : all_losses()) {
    expect_same_aggregate_on_threads("centroid", fmt::format(":distance={}:p={}", loss.distance, loss.p), trial);
  }
}

// Distances between all members, also of nearly equal ones, are kept; equal members have points of equal bits.
TEST(HullCoordinates, KeepDistances) {
  for (const MemberShape& shape : member_shapes()) {
    MemberTrial trial = random_members(shape.members, shape.rows, shape.players, 7);
    for (size_t r = 0; r < shape.rows; r++) {
      const Points members = unit_rows(trial, r);
      Matrix64 values(shape.members, shape.players);
      for (size_t j = 0; j < shape.members; j++) std::copy(members[j].begin(), members[j].end(), values.row(j).begin());
      const HullCoordinates hull = hull_coordinates(values.view());
      ASSERT_LE(hull.points.cols(), std::min(shape.players, std::max<size_t>(1, shape.members) - 1));
      const LossOf loss;
      for (size_t i = 0; i < shape.members; i++) {
        for (size_t j = 0; j < i; j++) {
          const double distance = loss.between(members[i], members[j]);
          const double kept =
              hull.points.cols() == 0 ? 0 : hull.scale * loss.between(hull.points.row(i), hull.points.row(j));
          ASSERT_NEAR(kept, distance, 1e-14 + 1e-12 * distance);
          if (members[i] == members[j]) {
            ASSERT_EQ(kept, 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::testing

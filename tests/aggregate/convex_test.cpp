#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "tests/aggregate/centroids/losses.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

Made convex(MemberTrial& trial, const std::string& weights) {
  return combined_by("convex", weights.empty() ? "" : ":weights=" + weights, trial);
}

// (0.6, 0.8) and (0, -1) with 0.75 and 0.25: (0.45, 0.6 - 0.25).
TEST(Convex, ByHand) {
  MemberTrial trial = one_row({{3, 4}, {0, -2}});
  const Made found = convex(trial, "[0.75,0.25]");
  EXPECT_FLOAT_EQ(found.values(0, 0), 0.45F);
  EXPECT_FLOAT_EQ(found.values(0, 1), 0.35F);
  EXPECT_EQ(found.combined.weights(0, 0), 0.75F);
  EXPECT_EQ(found.combined.weights(0, 1), 0.25F);
}

TEST(Convex, WeightsAreEqualWhenNotGiven) {
  MemberTrial trial = random_members(4, 100, 6, 2);
  const Made found = convex(trial, "");
  const Made mean = combined_by("mean", "", trial);
  EXPECT_TRUE(same_bits(found.combined.weights, mean.combined.weights));
  for (size_t r = 0; r < 100; r++) {
    for (size_t k = 0; k < 6; k++) EXPECT_NEAR(found.values(r, k), mean.values(r, k), 1e-7);
  }
}

TEST(Convex, AllWeightOnOneIsThatMember) {
  MemberTrial trial = random_members(3, 100, 5, 4);
  const Made found = convex(trial, "[0,1,0]");
  for (size_t r = 0; r < 100; r++) {
    for (size_t k = 0; k < 5; k++) EXPECT_EQ(found.values(r, k), static_cast<float>(unit_rows(trial, r)[1][k]));
  }
}

TEST(Convex, OfOneMember) {
  MemberTrial trial = one_row({{0, -7}});
  EXPECT_EQ(convex(trial, "1").values(0, 1), -1);
  EXPECT_EQ(convex(trial, "").values(0, 1), -1);
}

// Thirds to seven digits sum to 0.9999999: divided by that, each is a third. The first value is 3 x w / 3 = 1 exactly
// where all members agree.
TEST(Convex, WeightsAreNormalised) {
  MemberTrial trial = one_row({{1, 0}, {1, 0}, {1, 0}});
  const Made found = convex(trial, "[0.3333333,0.3333333,0.3333333]");
  EXPECT_EQ(found.values(0, 0), 1);
  EXPECT_EQ(found.combined.weights(0, 0), 1.0F / 3);
}

TEST(Convex, WeightsMustSumToOne) {
  const auto made = [](const std::string& weights) { return [=] { make_aggregator("convex:weights=" + weights); }; };
  EXPECT_EQ(message_of(made("[0.5,0.4]")),
            "convex, option weights: expected numbers that sum to 1, found a sum of 0.9");
  EXPECT_EQ(message_of(made("[0.5,0.500002]")),
            "convex, option weights: expected numbers that sum to 1, found a sum of 1.000002");
  EXPECT_EQ(message_of(made("[0,0]")), "convex, option weights: expected numbers that sum to 1, found a sum of 0");
  EXPECT_THROW(made("[1.5,-0.5]")(), Error);
  EXPECT_THROW(made("[0.5,nan]")(), Error);
  EXPECT_THROW(made("[]")(), Error);
}

TEST(Convex, RefusesAnotherNumberOfWeights) {
  MemberTrial trial = one_row({{1, 0}, {1, 0}, {1, 0}});
  const auto reason = [&](const std::string& weights) {
    return make_aggregator("convex:weights=" + weights)->refuses(trial.task());
  };
  EXPECT_EQ(reason("[0.5,0.5]"), "needs a weight for each member: expected 3, found 2");
  EXPECT_EQ(reason("1"), "needs a weight for each member: expected 3, found 1");
  EXPECT_EQ(reason("[0.5,0,0.5]"), std::nullopt);
}

TEST(Convex, RowsThatAreNoNumbersHaveNoWeights) {
  MemberTrial trial = bare_members({{{1, 0}, {INFINITY, 1}}, {{0, 1}, {1, 1}}});
  const Made found = convex(trial, "[0.5,0.5]");
  EXPECT_TRUE(std::isnan(found.values(1, 0)));
  EXPECT_TRUE(std::isnan(found.combined.weights(1, 0)));
  EXPECT_EQ(found.combined.weights(0, 0), 0.5F);
}

// Proposition 1, with all other rows as the neighbourhood of a row: the average distance between explanations is at
// most the weighted mean of the members', and so is the largest. float32 moves values by less than 1e-7 each way.
TEST(Convex, AverageSensitivityIsAtMostTheWeightedMean) {
  const std::vector<std::vector<double>> weights = {{0.2, 0.3, 0.5}, {0.9, 0.05, 0.05}, {0, 0.5, 0.5}};
  const LossOf l2;
  for (const size_t players : {1U, 4U, 784U}) {
    const size_t rows = players == 784 ? 12 : 60;
    MemberTrial trial = random_members(3, rows, players, 19);
    std::vector<Points> members;
    for (size_t r = 0; r < rows; r++) members.push_back(unit_rows(trial, r));
    for (const auto& w : weights) {
      const Made found = convex(trial, fmt::format("[{}]", fmt::join(w, ",")));
      const auto row = [&](size_t r) {
        return std::vector<double>(found.values.row(r).begin(), found.values.row(r).end());
      };
      for (size_t x = 0; x < rows; x++) {
        double average = 0;
        double largest = 0;
        std::vector<double> averages(3, 0.0);
        std::vector<double> maxima(3, 0.0);
        for (size_t z = 0; z < rows; z++) {
          if (z == x) continue;
          const double between = l2.between(row(x), row(z));
          average += between;
          largest = std::max(largest, between);
          for (size_t j = 0; j < 3; j++) {
            const double own = l2.between(members[x][j], members[z][j]);
            averages[j] += own;
            maxima[j] = std::max(maxima[j], own);
          }
        }
        double mean_average = 0;
        double mean_largest = 0;
        for (size_t j = 0; j < 3; j++) {
          mean_average += w[j] * averages[j];
          mean_largest += w[j] * maxima[j];
        }
        ASSERT_LE(average, mean_average + 2e-7 * static_cast<double>(rows));
        ASSERT_LE(largest, mean_largest + 2e-7);
      }
    }
  }
}

TEST(Convex, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(3, 1000, 6, 2);
  expect_same_aggregate_on_threads("convex", ":weights=[0.2,0.3,0.5]", trial);
}

}  // namespace
}  // namespace assay::testing

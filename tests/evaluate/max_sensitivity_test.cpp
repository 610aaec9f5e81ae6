#include <gtest/gtest.h>

#include <cmath>

#include "assay/evaluate/common.h"
#include "assay/evaluate/neighbourhoods/sensitivity.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// Two classes by the sign of the first number.
std::shared_ptr<const Model> by_sign(bool constant = false) {
  ModelInfo info;
  info.name = "by sign";
  info.feature_names = {"x0", "x1"};
  info.output_names = info.class_names = {"minus", "plus"};
  info.unit = OutputUnit::margin;
  return model_from_function(info, [constant](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t i = 0; i < rows.rows(); i++) {
      outputs(i, 0) = 0;
      outputs(i, 1) = constant ? 1 : rows(i, 0);
    }
  });
}

// One row, (1, 1), explained by (1, 0). In the pool, under l-infinity in raw columns:
//   (1, 1)    at 0: the row itself            (9, 9)
//   (2, 1)    at 1                            (1, 2): l2 2, l1 2, l0 1
//   (1, 3)    at 2                            (4, 4): l2 5, l1 7, l0 2
//   (-1, 1)   at 2, but of the other class    (7, 7)
//   (1, 4)    at 3                            (13, 5): l2 13, l1 17, l0 2
Trial four_points(bool constant = false) {
  Trial made = trial_of(setting_of(by_sign(constant), matrix_of({{1, 1}}), Matrix(1, 2)), matrix_of({{1, 0}}));
  made.pool = dataset_of(matrix_of({{1, 1}, {2, 1}, {1, 3}, {-1, 1}, {1, 4}}));
  made.pool_explanations.emplace(matrix_of({{9, 9}, {1, 2}, {4, 4}, {7, 7}, {13, 5}}));
  return made;
}

double score_of(const std::string& options, Trial trial) {
  return scored("max_sensitivity", ":space=raw:normalise=raw" + options, trial).values.at(0);
}

TEST(MaxSensitivity, WorkedByHand) {
  EXPECT_EQ(score_of(":radius=1", four_points()), 2);
  EXPECT_EQ(score_of(":radius=2", four_points()), 5);  // the radius includes rows at exactly that distance
  EXPECT_EQ(score_of(":radius=3", four_points()), 13);
  EXPECT_EQ(score_of(":radius=2:distance=l1", four_points()), 7);
  EXPECT_EQ(score_of(":radius=1:distance=l0", four_points()), 1);
  EXPECT_EQ(score_of(":radius=2:distance=l0", four_points()), 2);
  // max(2 / 1, 5 / 2) and max(2 / 1, 5 / 2, 13 / 3)
  EXPECT_EQ(score_of(":radius=2:weighting=inverse_distance", four_points()), 2.5);
  EXPECT_EQ(score_of(":radius=3:weighting=inverse_distance", four_points()), 13.0 / 3);
}

TEST(MaxSensitivity, UnitNormComparesDirections) {
  // (1, 0) against (1, 2) / sqrt 5: |d|^2 = 2 - 2 / sqrt 5; against (4, 4): 2 - sqrt 2, less.
  for (const std::string options : {"", ":normalise=unit"}) {
    Trial trial = four_points();
    EXPECT_NEAR(scored("max_sensitivity", ":space=raw:radius=2" + options, trial).values[0],
                std::sqrt(2 - 2 / std::sqrt(5.0)), 1e-7);
  }
  // cosine distance does not care: 1 - 1 / sqrt 5
  EXPECT_NEAR(score_of(":radius=2:distance=cosine", four_points()), 1 - 1 / std::sqrt(5.0), 1e-7);
}

// |values|: (1, 0) orders the first player over the second, (1, 2) the other way round: all of the one pair differs.
// (4, 4) ties them: half.
TEST(MaxSensitivity, KendallComparesOrders) {
  EXPECT_EQ(score_of(":radius=1:distance=kendall", four_points()), 1);
  Trial tied = four_points();
  tied.pool_explanations.emplace(matrix_of({{9, 9}, {4, 4}, {4, 4}, {7, 7}, {13, 5}}));
  EXPECT_EQ(score_of(":radius=2:distance=kendall", std::move(tied)), 0.5);
}

TEST(MaxSensitivity, NormOfTheRadius) {
  // (1.6, 1.8): 0.8 under l-infinity, 1 under l2, 1.4 under l1
  Trial trial = four_points();
  trial.pool = dataset_of(matrix_of({{1.6F, 1.8F}}));
  trial.pool_explanations.emplace(matrix_of({{1, 3}}));
  EXPECT_EQ(score_of(":radius=0.9", trial), 3);
  EXPECT_TRUE(std::isnan(score_of(":radius=0.9:rho=l2", trial)));
  EXPECT_EQ(score_of(":radius=1.1:rho=l2", trial), 3);
  EXPECT_TRUE(std::isnan(score_of(":radius=1.1:rho=l1", trial)));
  EXPECT_EQ(score_of(":radius=1.5:rho=l1", trial), 3);
}

TEST(MaxSensitivity, EmptyNeighbourhoodIsUndefined) {
  for (const std::string options : {":radius=0.5", ":radius=0"}) {
    Trial trial = four_points();
    const Scores scores = scored("max_sensitivity", ":space=raw" + options, trial);
    EXPECT_TRUE(std::isnan(scores.values[0]));
    EXPECT_EQ(scores.coverage, 0);
    ASSERT_EQ(scores.undefined.size(), 1U);
    EXPECT_EQ(scores.undefined[0].reason, kNoNeighbour);
  }
}

TEST(MaxSensitivity, AllRowsOfOneClass) {
  // (-1, 1) at 2 counts now: (1, 0) to (7, 7) is sqrt(36 + 49).
  EXPECT_EQ(score_of(":radius=2", four_points(true)), std::sqrt(85.0));
}

// As they are, zeros are all alike; they have no direction in which to be alike.
TEST(MaxSensitivity, ConstantModelWithoutExplanationsScoresZeroOrNothing) {
  Trial trial = four_points(true);
  trial.explanations = explanations_of(Matrix(1, 2));
  trial.pool_explanations.emplace(Matrix(5, 2));
  for (const std::string& distance : explanation_distance_names()) {
    EXPECT_EQ(score_of(":radius=2:distance=" + distance, trial), 0) << distance;
  }
  const Scores scores = scored("max_sensitivity", ":space=raw:radius=2", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  ASSERT_EQ(scores.undefined.size(), 1U);
  EXPECT_EQ(scores.undefined[0].reason, kAllZero);
}

TEST(MaxSensitivity, AttributionsThatAreNotNumbers) {
  Trial trial = four_points();
  trial.explanations = explanations_of(matrix_of({{NAN, 0}}));
  Scores scores = scored("max_sensitivity", ":space=raw:radius=3", trial);
  ASSERT_EQ(scores.undefined.size(), 1U);
  EXPECT_EQ(scores.undefined[0].reason, kNotFinite);

  // A neighbour whose attributions are not numbers is left out; so is one at an undefined distance.
  trial = four_points();
  trial.pool_explanations.emplace(matrix_of({{9, 9}, {1, 2}, {4, INFINITY}, {7, 7}, {NAN, 5}}));
  scores = scored("max_sensitivity", ":space=raw:radius=3:normalise=raw", trial);
  EXPECT_EQ(scores.values[0], 2);
  EXPECT_EQ(scores.notes.at(1),
            "2 rows of the pool are left out as neighbours: their attributions are not all numbers");
  trial.pool_explanations.emplace(matrix_of({{9, 9}, {1, 2}, {0, 0}, {7, 7}, {NAN, 5}}));
  scores = scored("max_sensitivity", ":space=raw:radius=3", trial);
  EXPECT_NEAR(scores.values[0], std::sqrt(2 - 2 / std::sqrt(5.0)), 1e-7);
  EXPECT_EQ(scores.notes.at(1),
            "2 rows of the pool are left out as neighbours: their attributions are not all numbers, or all 0");

  trial.pool_explanations.emplace(matrix_of({{9, 9}, {0, 0}, {NAN, 0}, {7, 7}, {0, 0}}));
  scores = scored("max_sensitivity", ":space=raw:radius=3:normalise=raw:distance=cosine", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  EXPECT_EQ(scores.undefined.at(0).reason, kNoComparable);
  EXPECT_EQ(scores.notes.at(2), "2 pairs are left out: one of the two explanations is all zero");
}

TEST(MaxSensitivity, InfoNamesItsNeeds) {
  const CriterionInfo& info = find_criterion("max_sensitivity");
  EXPECT_TRUE(info.needs.model && info.needs.pool && info.needs.pool_explanations);
  EXPECT_FALSE(info.needs.explainer);
  EXPECT_EQ(info.direction, Direction::lower);
  Trial trial = four_points();
  EXPECT_EQ(scored("max_sensitivity", "", trial).evaluations, 1U + 5U);
}

}  // namespace
}  // namespace assay::testing

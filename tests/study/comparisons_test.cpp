#include "assay/study/comparisons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

Study three_entries(const std::string& criterion, Direction direction) {
  Study study = hand_study(40, {{criterion, direction}});
  add_entry(study, "a", EntryKind::method, {around(0.5, 0.02, 40, 1)});
  add_entry(study, "b", EntryKind::method, {around(0.46, 0.30, 40, 2)});
  add_entry(study, "c", EntryKind::method, {around(0.1, 0.10, 40, 3)});
  return study;
}

// Population formulas, by hand.
double deviation(const std::vector<double>& values) {
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> apart(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> made;
  for (size_t r = 0; r < a.size(); ++r) made.push_back(a[r] - b[r]);
  return made;
}

// Faithfulness is a correlation: the floor of a difference's deviation is the margin. The seed is the study's.
TEST(Comparisons, OfFaithfulnessHaveTheMarginAsFloor) {
  Study study = three_entries("faithfulness", Direction::higher);
  study.facts.seed = 7;
  study.advice.margin = 0.08;
  Context elsewhere;
  elsewhere.seed = 99;
  const CriterionComparison compared(study, 0, {0, 1, 2}, elsewhere);
  std::vector<std::span<const double>> columns;
  for (const StudyEntry& entry : study.entries) columns.emplace_back(entry.scores[0].values);
  Context own;
  own.seed = 7;
  const SimultaneousDifferences expected = simultaneous_differences(columns, {.floor = 0.08}, {}, own);
  EXPECT_EQ(compared.critical(), expected.critical());
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(compared.between(i, j).mean, expected.between(i, j).mean);
      EXPECT_EQ(compared.between(i, j).interval.low, expected.between(i, j).interval.low);
      EXPECT_EQ(compared.between(i, j).interval.high, expected.between(i, j).interval.high);
    }
  }
  EXPECT_TRUE(compared.better(0, 2));
  EXPECT_FALSE(compared.better(2, 0));
  EXPECT_FALSE(compared.better(0, 1)) << "0.04 apart, with a deviation of 0.2";
}

// Other criteria have units of their own: that share of the middle entry's deviation, here c's.
TEST(Comparisons, OfOtherCriteriaHaveAShareOfTheUsualSpreadAsFloor) {
  Study study = three_entries("complexity", Direction::higher);
  study.advice.margin = 0.5;
  const CriterionComparison compared(study, 0, {0, 1, 2}, {});
  const double floor = 0.5 * deviation(study.entries[2].scores[0].values);
  const double spread = deviation(apart(study.entries[0].scores[0].values, study.entries[1].scores[0].values));
  EXPECT_NEAR(compared.between(0, 1).error, std::sqrt((spread * spread + floor * floor) / 40), 1e-12);
  // In another unit everything is that much larger, and nothing else changes.
  Study larger = study;
  for (StudyEntry& entry : larger.entries) {
    for (double& v : entry.scores[0].values) v *= 1000;
  }
  const CriterionComparison scaled(larger, 0, {0, 1, 2}, {});
  EXPECT_NEAR(scaled.critical(), compared.critical(), 1e-9);
  EXPECT_NEAR(scaled.between(0, 1).interval.low, 1000 * compared.between(0, 1).interval.low, 1e-6);
}

TEST(Comparisons, WhereLowerIsBetterASmallerScoreIsAhead) {
  const Study study = three_entries("complexity", Direction::lower);
  const CriterionComparison compared(study, 0, {2, 1, 0}, {});
  EXPECT_NEAR(compared.between(2, 0).mean, 0.4, 1e-12);
  EXPECT_GT(compared.between(2, 0).interval.high, 0.4);
  EXPECT_LT(compared.between(2, 0).interval.low, 0.4);
  EXPECT_NEAR(compared.between(0, 2).mean, -0.4, 1e-12);
  EXPECT_TRUE(compared.better(2, 0));
  EXPECT_FALSE(compared.better(0, 2));
}

// Welch's t with Bonferroni's correction over all pairs; quantiles by scipy.stats.t.ppf at 4.959 degrees of freedom.
TEST(Comparisons, OfRunsAreByTheirMeans) {
  Study study = hand_study(3, {{"kar", Direction::higher}});
  add_entry(study, "a", EntryKind::method, {{3.0, 3.2, 2.8}});
  add_entry(study, "b", EntryKind::method, {{2.0, 2.6, 2.2, 2.4}});
  for (StudyEntry& entry : study.entries) entry.scores[0].of_rows = false;
  const CriterionComparison one(study, 0, {0, 1}, {});
  EXPECT_NEAR(one.between(0, 1).mean, 0.7, 1e-12);
  EXPECT_NEAR(one.between(0, 1).error, std::sqrt(0.03), 1e-12);
  EXPECT_NEAR(one.between(0, 1).interval.low, 0.7 - std::sqrt(0.03) * 2.5769584490090556, 1e-9);
  EXPECT_NEAR(one.critical(), 2.5769584490090556, 1e-9);
  EXPECT_TRUE(one.better(0, 1));
  add_entry(study, "c", EntryKind::method, {{1.0, 1.1, 0.9}});
  study.entries[2].scores[0].of_rows = false;
  const CriterionComparison three(study, 0, {0, 1, 2}, {});
  EXPECT_NEAR(three.between(1, 0).interval.high, -0.7 + std::sqrt(0.03) * 3.5470298389861377, 1e-9);
  EXPECT_FALSE(one.better(1, 0));
}

// Dependent values have an error of their own, and no count: the normal distribution.
TEST(Comparisons, OfDependentValuesAreByTheNormalDistribution) {
  Study study = hand_study(2, {{"faithfulness", Direction::higher}});
  for (const double mean : {0.8, 0.5, 0.2}) {
    Scores& scores = add_entry(study, std::to_string(mean), EntryKind::method, {{mean, mean}}).scores[0];
    scores.dependent = true;
    scores.mean_error = 0.1;
  }
  const double error = std::hypot(0.1, 0.1);
  EXPECT_NEAR(CriterionComparison(study, 0, {0, 1}, {}).between(0, 1).interval.low, 0.3 - 1.959963984540054 * error,
              1e-5);
  const CriterionComparison three(study, 0, {0, 1, 2}, {});
  EXPECT_NEAR(three.between(0, 1).interval.low, 0.3 - 2.3939797998185104 * error, 1e-5);
  EXPECT_FALSE(three.better(0, 1));
  EXPECT_TRUE(three.better(0, 2));
  study.entries[1].scores[0].mean_error = NAN;
  EXPECT_TRUE(std::isnan(CriterionComparison(study, 0, {0, 1}, {}).between(0, 1).interval.low));
  EXPECT_FALSE(CriterionComparison(study, 0, {0, 1}, {}).better(0, 1));
}

TEST(Comparisons, SharedDrawsAddToTheError) {
  Study study = three_entries("faithfulness", Direction::higher);
  const double before = CriterionComparison(study, 0, {0, 1, 2}, {}).between(0, 2).error;
  study.entries[0].scores[0].shared_error = 0.3;
  study.entries[2].scores[0].shared_error = 0.4;
  EXPECT_NEAR(CriterionComparison(study, 0, {0, 1, 2}, {}).between(0, 2).error, std::hypot(before, 0.5), 1e-12);
}

// A regular difference in the eighth digit is float32 rounding.
TEST(Comparisons, RoundingIsNoDifference) {
  Study study = hand_study(5, {{"complexity", Direction::higher}});
  add_entry(study, "a", EntryKind::method, {{2, 2, 2, 2, 2}});
  add_entry(study, "b", EntryKind::method, {std::vector<double>(5, 2 + 1e-6)});
  add_entry(study, "c", EntryKind::method, {std::vector<double>(5, 2 + 1e-5)});
  const CriterionComparison compared(study, 0, {0, 1, 2}, {});
  EXPECT_GT(compared.between(1, 0).interval.low, 0);
  EXPECT_FALSE(compared.better(1, 0));
  EXPECT_TRUE(compared.better(2, 0));
  EXPECT_TRUE(above_rounding(2 + 1e-5, 2));
  EXPECT_FALSE(above_rounding(2 + 1e-6, 2));
  EXPECT_FALSE(above_rounding(NAN, 2));
}

}  // namespace
}  // namespace assay::testing

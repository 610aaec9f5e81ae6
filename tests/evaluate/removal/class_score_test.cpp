#include "assay/evaluate/removal/class_score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

ModelInfo info_of(OutputUnit unit, size_t outputs) {
  ModelInfo info;
  info.unit = unit;
  info.output_names.assign(outputs, "y");
  if (unit != OutputUnit::value) info.class_names.assign(outputs == 1 ? 2 : outputs, "y");
  return info;
}

double log_odds(OutputUnit unit, const std::vector<float>& outputs, size_t which) {
  return class_score(info_of(unit, outputs.size()), ScoreUnit::log_odds, outputs, which);
}
double probability(OutputUnit unit, const std::vector<float>& outputs, size_t which) {
  return class_score(info_of(unit, outputs.size()), ScoreUnit::probability, outputs, which);
}

// p_1 = e^2 / (e^1 + e^2 + e^0.5), so p_1 / (1 - p_1) = e^2 / (e^1 + e^0.5).
TEST(ClassScore, MarginsGiveTheClassAgainstTheSumOfTheOthers) {
  EXPECT_DOUBLE_EQ(log_odds(OutputUnit::margin, {1, 2, 0.5F}, 1), 2 - std::log(std::exp(1.0) + std::exp(0.5)));
  EXPECT_DOUBLE_EQ(probability(OutputUnit::margin, {1, 2, 0.5F}, 1),
                   std::exp(2.0) / (std::exp(1.0) + std::exp(2.0) + std::exp(0.5)));
  EXPECT_EQ(log_odds(OutputUnit::margin, {3, 1}, 0), 2);
  EXPECT_EQ(log_odds(OutputUnit::margin, {3, 1}, 1), -2);
}

TEST(ClassScore, OneOutputIsTheSecondClass) {
  EXPECT_EQ(log_odds(OutputUnit::margin, {1.5F}, 1), 1.5);
  EXPECT_EQ(log_odds(OutputUnit::margin, {1.5F}, 0), -1.5);
  EXPECT_EQ(log_odds(OutputUnit::log_odds, {1.5F}, 0), -1.5);
  EXPECT_EQ(log_odds(OutputUnit::log_odds, {1.5F, -0.25F}, 1), -0.25);
  EXPECT_DOUBLE_EQ(probability(OutputUnit::margin, {1.5F}, 0), 1 / (1 + std::exp(1.5)));
  EXPECT_DOUBLE_EQ(probability(OutputUnit::log_odds, {1.5F, -0.25F}, 0), 1 / (1 + std::exp(-1.5)));
  EXPECT_EQ(probability(OutputUnit::probability, {0.75F}, 0), 0.25);
  EXPECT_EQ(probability(OutputUnit::probability, {0.75F}, 1), 0.75);
}

// ln(0.75 / 0.25) = ln 3, and ln(0.25 / (0.5 + 0.25)) = -ln 3.
TEST(ClassScore, ProbabilitiesGiveTheirLogOdds) {
  EXPECT_DOUBLE_EQ(log_odds(OutputUnit::probability, {0.75F}, 1), std::log(3.0));
  EXPECT_DOUBLE_EQ(log_odds(OutputUnit::probability, {0.75F}, 0), -std::log(3.0));
  EXPECT_DOUBLE_EQ(log_odds(OutputUnit::probability, {0.5F, 0.25F, 0.25F}, 2), -std::log(3.0));
  EXPECT_DOUBLE_EQ(log_odds(OutputUnit::probability, {0.5F, 0.25F, 0.25F}, 0), 0);
}

// 1 - p is 2^-24 = 5.96e-8 after rounding to float32; the other class still knows that it is 4e-8.
TEST(ClassScore, TheOtherClassesKeepTheDigitsThatRoundingTook) {
  const float sure = std::nextafter(1.0F, 0.0F);
  EXPECT_NEAR(log_odds(OutputUnit::probability, {sure, 4e-8F}, 0), -std::log(4e-8), 1e-6);
  // Outputs that do not add up are not of classes that exclude each other.
  EXPECT_NEAR(log_odds(OutputUnit::probability, {0.75F, 0.9F}, 0), std::log(3.0), 1e-12);
}

TEST(ClassScore, CertaintyHasNoLogOdds) {
  for (const float p : {0.0F, 1.0F}) {
    EXPECT_TRUE(std::isinf(log_odds(OutputUnit::probability, {p}, 1)));
    EXPECT_TRUE(std::isinf(log_odds(OutputUnit::probability, {p, 1 - p}, 0)));
    EXPECT_EQ(why_undefined(log_odds(OutputUnit::probability, {p}, 0)), kCertain);
    EXPECT_EQ(probability(OutputUnit::probability, {p}, 1), p);
  }
  // Margins never saturate.
  EXPECT_EQ(log_odds(OutputUnit::margin, {1000, -1000}, 0), 2000);
  EXPECT_EQ(probability(OutputUnit::margin, {1000, -1000}, 0), 1);
  EXPECT_EQ(probability(OutputUnit::margin, {1000, -1000}, 1), 0);
}

TEST(ClassScore, WhatIsNoNumberHasNoScore) {
  EXPECT_EQ(why_undefined(log_odds(OutputUnit::margin, {NAN, 1}, 1)), kNoNumber);
  EXPECT_TRUE(std::isnan(log_odds(OutputUnit::margin, {INFINITY}, 1)));
  EXPECT_TRUE(std::isnan(log_odds(OutputUnit::probability, {1.5F}, 1)));
  EXPECT_TRUE(std::isnan(log_odds(OutputUnit::probability, {-0.5F}, 1)));
}

TEST(ClassScore, ARegressionIsItsValue) {
  EXPECT_EQ(log_odds(OutputUnit::value, {3, 7}, 1), 7);
  EXPECT_EQ(probability(OutputUnit::value, {-3}, 0), -3);
}

// p = 1 / (1 + exp(-s)) whatever the number of classes, and p is softmax.
TEST(ClassScore, LogOddsAndProbabilityAgree) {
  RandomStream random(1, "class_score_test");
  for (int trial = 0; trial < 200; trial++) {
    std::vector<float> z(1 + random.below(5));
    for (float& v : z) v = 3 * small_number(random);
    const std::vector<double> expected = plain_softmax({z.begin(), z.end()});
    for (size_t c = 0; c < expected.size(); c++) {
      const double p = probability(OutputUnit::margin, z, c);
      EXPECT_NEAR(p, expected[c], 1e-12);
      EXPECT_NEAR(1 / (1 + std::exp(-log_odds(OutputUnit::margin, z, c))), p, 1e-12);
    }
  }
}

// Margins (1, 3, 0): class 1 is predicted, and class 2 explained.
TEST(ClassScore, TheScoredClassIsThePredictedOrTheExplainedOne) {
  Trial trial = removal_trial(linear_model({{{1}, {3}, {0}}, {0, 0, 0}}, OutputUnit::margin), {{1}}, {{0}}, {{1}}, "2");
  const EvaluateTask task = trial.task();
  const std::vector<float> outputs = {1, 3, 0};
  EXPECT_EQ(scored_class(task, ScoredClass::predicted, 0, outputs), 1U);
  EXPECT_EQ(scored_class(task, ScoredClass::explained, 0, outputs), 2U);
  trial.setting->targets = information_targets(*trial.setting->model, 1);
  EXPECT_EQ(scored_class(trial.task(), ScoredClass::explained, 0, outputs), 1U);
}

// Class 2 was predicted when targets were frozen, as rounded probabilities may have it: it stays the predicted one.
TEST(ClassScore, AFrozenPredictionHolds) {
  Trial trial = removal_trial(linear_model({{{1}, {3}, {0}}, {0, 0, 0}}, OutputUnit::margin), {{1}}, {{0}}, {{1}}, "2");
  trial.setting->targets.predicted = true;
  EXPECT_EQ(scored_class(trial.task(), ScoredClass::predicted, 0, std::vector<float>{1, 3, 0}), 2U);
}

// p0 = 1 - p1, and s0 = -s1; but two margins are functions of their own.
TEST(ClassScore, TwoMarginsHaveStrengthsOfTheirOwn) {
  EXPECT_TRUE(strength_is_of_all_classes(info_of(OutputUnit::margin, 1)));
  EXPECT_TRUE(strength_is_of_all_classes(info_of(OutputUnit::probability, 2)));
  EXPECT_TRUE(strength_is_of_all_classes(info_of(OutputUnit::log_odds, 2)));
  EXPECT_FALSE(strength_is_of_all_classes(info_of(OutputUnit::margin, 2)));
  EXPECT_FALSE(strength_is_of_all_classes(info_of(OutputUnit::probability, 3)));
  EXPECT_TRUE(strength_is_of_all_classes(info_of(OutputUnit::value, 3)));
}

}  // namespace
}  // namespace assay::testing

#include <gtest/gtest.h>

#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// value = 3 x0 + x1 + 2 x2; x0 is the strongest, so noise of deviations 0.5 * 2 and 0.5 * 4 goes to x1 and x2: the
// change is normal of variance 1 + 16, its mean size sqrt(17) sqrt(2 / pi).
TEST(PredictionGapUnimportant, PerturbsAllButTheStrongest) {
  Trial trial = removal_trial(one_output({3, 1, 2}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{-5, 1, 1}});
  trial.setting->reference.scales = {100, 2, 4};
  const Scores found = scored("prediction_gap_unimportant", ":k=1:samples=20000", trial);
  const double pi = std::acos(-1.0);
  EXPECT_NEAR(found.values[0], std::sqrt(17 * 2 / pi), 5 * found.standard_error[0]);
  EXPECT_NEAR(found.standard_error[0], std::sqrt(17 * (1 - 2 / pi) / 20000), 1e-3);
}

// p = 1 / (1 + e^-z), z = 2 x0 + x1: x1 goes to the reference, z from 3 to 2.
TEST(PredictionGapUnimportant, TheBaselineIsThePlainDifference) {
  Trial trial = removal_trial(one_output({2, 1}), {{1, 1}}, {{9, 0}}, {{-2, 1}});
  const auto p = [](double z) { return 1 / (1 + std::exp(-z)); };
  EXPECT_NEAR(scored("prediction_gap_unimportant", ":k=1:perturbation=baseline", trial).values[0], p(3) - p(2), 1e-7);
}

// The players that do nothing are the unimportant ones: the gap is 0, and that of the important ones is not.
TEST(PredictionGapUnimportant, IsZeroWhenTheRestDoesNothing) {
  Trial trial = removal_trial(one_output({2, 0, 0}), {{0.1F, 1, 1}}, {{0, 0, 0}}, {{1, 0, 0}});
  trial.setting->reference.scales = {1, 1, 1};
  EXPECT_EQ(scored("prediction_gap_unimportant", ":k=1", trial).values[0], 0);
}

TEST(PredictionGapUnimportant, Refusals) {
  Trial trial = removal_trial(one_output({2, 1}), {{1, 1}}, {{0, 0}}, {{1, 2}});
  trial.setting->reference.scales = {1, 1};
  EXPECT_EQ(refusal_of("prediction_gap_unimportant", ":k=2", trial),
            "needs players beside the k = 2 strongest, and there are 2 players");
  EXPECT_EQ(refusal_of("prediction_gap_unimportant", "", trial), "");
  Trial single = removal_trial(one_output({2}), {{1}}, {{0}}, {{1}});
  EXPECT_EQ(refusal_of("prediction_gap_unimportant", ":perturbation=baseline", single),
            "needs players beside the k = 1 strongest, and there are 1 players");
}

TEST(PredictionGapUnimportant, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("prediction_gap_unimportant", ":samples=37", trial);
}

}  // namespace
}  // namespace assay::testing

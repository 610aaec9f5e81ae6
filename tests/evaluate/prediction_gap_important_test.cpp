#include <gtest/gtest.h>

#include "assay/evaluate/removal/gap.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// value = 3 x0 + x1 + 10 x2; noise on x0 alone, of deviation 0.5 * 2 = 1: the gap is |3 e|, e standard normal, whose
// mean is 3 sqrt(2 / pi) and whose deviation is 3 sqrt(1 - 2 / pi). The second row differs in nothing that matters.
TEST(PredictionGapImportant, IsTheMeanSizeOfTheChange) {
  Trial trial = removal_trial(one_output({3, 1, 10}, OutputUnit::value), {{1, 1, 1}, {-4, 9, 2}}, {{0, 0, 0}},
                              {{-5, 1, 1}, {2, 1, 1}});
  trial.setting->reference.scales = {2, 1, 7};
  const Scores found = scored("prediction_gap_important", ":k=1:samples=20000", trial);
  const double pi = std::acos(-1.0);
  const double error = 3 * std::sqrt((1 - 2 / pi) / 20000);
  EXPECT_NEAR(found.values[0], 3 * std::sqrt(2 / pi), 5 * error);
  EXPECT_NEAR(found.standard_error[0], error, 0.03 * error);
  // The same draws for all rows.
  EXPECT_NEAR(found.values[1], found.values[0], 1e-4);
  EXPECT_EQ(found.evaluations, 2U + 1 + 40000);
  // Twice the noise, twice the change.
  const Scores doubled = scored("prediction_gap_important", ":k=1:samples=20000:scale=1", trial);
  EXPECT_NEAR(doubled.values[0], 2 * found.values[0], 1e-3);
}

// p = 1 / (1 + e^-z) with z = 2 x0 + x1 at (1, 1): from z = 3 to 1 without x0. And to 4 against x0 = 1.5: mean of both.
TEST(PredictionGapImportant, TheBaselineIsThePlainDifference) {
  Trial trial = removal_trial(one_output({2, 1}), {{1, 1}}, {{0, 9}, {1.5F, 9}}, {{-2, 1}});
  const auto p = [](double z) { return 1 / (1 + std::exp(-z)); };
  const Scores found = scored("prediction_gap_important", ":k=1:perturbation=baseline", trial);
  EXPECT_NEAR(found.values[0], (std::abs(p(3) - p(1)) + std::abs(p(3) - p(4))) / 2, 1e-9);
  EXPECT_TRUE(found.standard_error.empty());
}

// Column 1 is a category. Where it is the strongest player, noise says nothing about it; a group that has a column of
// numbers beside it moves.
TEST(PredictionGapImportant, CategoriesAreNotMovedByNoise) {
  Trial trial = removal_trial(one_output({1, 1, 1}, OutputUnit::value), {{1, 1, 1}, {1, 1, 1}}, {{0, 0, 0}},
                              {{1, 3, 0}, {3, 1, 0}});
  trial.setting->reference.scales = {1, 0, 1};
  const Scores found = scored("prediction_gap_important", ":k=1", trial);
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_TRUE(std::isnan(found.standard_error[0]));
  EXPECT_GT(found.values[1], 0);
  ASSERT_EQ(found.undefined.size(), 1U);
  EXPECT_EQ(found.undefined[0].reason, kUnmoved);
  EXPECT_EQ(found.evaluations, 2U + 1 + 100);
  EXPECT_EQ(found.notes.at(0), "noise leaves 1 of 3 columns as they are: categories, or constant over the pool");
  EXPECT_EQ(scored("prediction_gap_important", ":k=1:perturbation=baseline", trial).values[0], 1);

  Trial grouped = removal_trial(one_output({1, 1, 1}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{1, 3}});
  grouped.setting->players = players_of({0, 1, 1}, 2);
  grouped.setting->reference.scales = {1, 0, 1};
  EXPECT_GT(scored("prediction_gap_important", ":k=1", grouped).values[0], 0);
}

// A row's gap is the same alone and among others.
TEST(PredictionGapImportant, ARowDoesNotDependOnTheOthers) {
  RandomStream random(91, "gap_test");
  const Linear linear = random_linear(random, 4, 3);
  const auto rows = random_rows(random, 6, 4);
  const auto phi = random_rows(random, 6, 4);
  Trial all = removal_trial(linear_model(linear, OutputUnit::margin), rows, {{0, 0, 0, 0}}, phi, "1");
  Trial last = removal_trial(linear_model(linear, OutputUnit::margin), {rows[5]}, {{0, 0, 0, 0}}, {phi[5]}, "1");
  for (Trial* trial : {&all, &last}) trial->setting->reference.scales = {1, 2, 0.5F, 1};
  const Scores found = scored("prediction_gap_important", "", all);
  EXPECT_EQ(found.values[5], scored("prediction_gap_important", "", last).values[0]);
  EXPECT_NE(found.values[5], scored("prediction_gap_important", "", last, on_threads(1, 7)).values[0]);
}

// Rows so wide that rows and draws come in parts: the first column has the same draws as when it is alone.
TEST(PredictionGapImportant, WideRowsAreDoneInParts) {
  const size_t players = 100'000;
  std::vector<double> weights(players, 0.0);
  weights[0] = 1;
  std::vector<float> phi(players, 0.0F);
  phi[0] = 1;
  Trial wide = removal_trial(one_output(weights, OutputUnit::value),
                             std::vector<std::vector<float>>(3, std::vector<float>(players, 1.0F)),
                             {std::vector<float>(players, 0.0F)}, std::vector<std::vector<float>>(3, phi));
  wide.setting->reference.scales.assign(players, 1.0F);
  Trial narrow = removal_trial(one_output({1}, OutputUnit::value), {{1}}, {{0}}, {{1}});
  narrow.setting->reference.scales = {1};
  const Scores found = scored("prediction_gap_important", ":k=1:samples=30", wide);
  const Scores alone = scored("prediction_gap_important", ":k=1:samples=30", narrow);
  for (size_t r = 0; r < 3; r++) {
    EXPECT_EQ(found.values[r], alone.values[0]);
    EXPECT_EQ(found.standard_error[r], alone.standard_error[0]);
  }
}

TEST(PredictionGapImportant, DegenerateRowsAndRefusals) {
  Trial trial = removal_trial(one_output({0, 0}), {{1, 1}, {1, 1}}, {{0, 0}}, {{0, 0}, {1, 0}});
  EXPECT_EQ(refusal_of("prediction_gap_important", "", trial),
            "needs a pool of training rows, whose deviations are the unit of its noise (perturbation=baseline needs "
            "none)");
  EXPECT_EQ(refusal_of("prediction_gap_important", ":perturbation=baseline", trial), "");
  EXPECT_EQ(refusal_of("prediction_gap_important", ":k=3:perturbation=baseline", trial),
            "needs k of at most the 2 players, and k is 3");
  trial.setting->reference.scales = {1, 1};
  const Scores found = scored("prediction_gap_important", "", trial);
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_EQ(found.undefined.at(0).reason, "all attributions are 0");
  // A constant model never moves.
  EXPECT_EQ(found.values[1], 0);
  EXPECT_EQ(found.standard_error[1], 0);
}

// Rows are fixed, and only the noise changes with the seed: the spread of the mean over seeds is the shared error. Most
// of it is common to all rows, so that the rows' own errors, as if independent, would be a tenth of it.
TEST(PredictionGapImportant, TheSharedErrorIsTheSpreadOverSeeds) {
  RandomStream random(17, "gap_test");
  const auto rows = random_rows(random, 200, 3);
  std::vector<std::vector<float>> phi(200, {3, 2, 1});
  phi[7] = {0, 0, 0};  // undefined rows take no part
  phi[8] = {NAN, 1, 1};
  Trial trial = removal_trial(one_output({0.5, 0.3, 1}), rows, {{0, 0, 0}}, phi, "1");
  trial.setting->reference.scales = {1, 1, 1};
  RunningMoments means;
  RunningMoments squares;
  for (uint64_t seed = 0; seed < 300; seed++) {
    const Scores found = scored("prediction_gap_important", ":k=2:samples=20", trial, on_threads(1, seed));
    means.add(found.mean);
    squares.add(found.shared_error * found.shared_error);
    EXPECT_GE(found.mean_error, found.shared_error);
  }
  EXPECT_NEAR(std::sqrt(squares.mean()) / means.standard_deviation(), 1, 0.15);
  EXPECT_EQ(scored("prediction_gap_important", ":k=2:perturbation=baseline", trial).shared_error, 0);
}

// One row: what it shares with itself is its own error.
TEST(PredictionGapImportant, TheSharedErrorOfOneRowIsItsOwn) {
  Trial trial = removal_trial(one_output({0.5, 0.3}), {{1, 2}, {0, 0}}, {{0, 0}}, {{3, 2}, {0, 0}});
  trial.setting->reference.scales = {1, 1};
  const Scores found = scored("prediction_gap_important", "", trial);
  EXPECT_DOUBLE_EQ(found.shared_error, found.standard_error[0]);
}

// At 1e9 float32 has steps of 64: noise of deviation 0.5 never gets there. A gap of 0 would say that x0 does not
// matter. Nor does noise change what is missing.
TEST(PredictionGapImportant, NoiseBelowTheResolutionIsUndefined) {
  Trial trial = removal_trial(one_output({1, 1}, OutputUnit::value), {{1e9F, 1}, {1, 1}}, {{0, 0}}, {{3, 2}, {3, 2}});
  trial.setting->reference.scales = {1, 1};
  const Scores found = scored("prediction_gap_important", ":k=1", trial);
  EXPECT_TRUE(std::isnan(found.values[0]));
  EXPECT_TRUE(std::isnan(found.standard_error[0]));
  EXPECT_EQ(found.undefined.at(0).reason, kUnchanged);
  EXPECT_GT(found.values[1], 0);
  EXPECT_DOUBLE_EQ(found.shared_error, found.standard_error[1]);
}

TEST(PredictionGapImportant, RowsOfAClassThatIsNotPredictedAreCounted) {
  Trial trial = one_unpredicted();
  Trial predicted = one_unpredicted("predicted");
  for (const std::string options : {":k=1", ":k=1:perturbation=baseline"}) {
    EXPECT_TRUE(has_note(scored("prediction_gap_important", options, trial), kUnpredictedNote)) << options;
    EXPECT_TRUE(scored("prediction_gap_important", options, predicted).notes.empty()) << options;
  }
}

// Rows in several blocks: the same values, and the shared error of 3000 equal rows is that of one.
TEST(PredictionGapImportant, ManyRowsAreDoneInBlocks) {
  Trial many = removal_trial(one_output({1}, OutputUnit::value), std::vector<std::vector<float>>(3000, {1}), {{0}},
                             std::vector<std::vector<float>>(3000, {1}));
  many.setting->reference.scales = {1};
  const Scores found = scored("prediction_gap_important", ":samples=200", many);
  for (const double value : found.values) ASSERT_EQ(value, found.values[0]);
  EXPECT_EQ(found.evaluations, 3000U + 1 + 600'000);
  EXPECT_NEAR(found.shared_error, found.standard_error[0], 1e-9);
}

// p(1) is about e^-300, which float32 rounds to 0 with any noise; margins know it.
TEST(PredictionGapImportant, MarginsSpeakWhereProbabilitiesAreRounded) {
  Trial trial = removal_trial(one_output({100}, OutputUnit::probability), {{-3}}, {{0}}, {{1}}, "1");
  trial.setting->reference.scales = {0.1F};
  EXPECT_EQ(scored("prediction_gap_important", "", trial).values[0], 0);
  const auto margins = one_output({100});
  const Scores found = scored_with_margins("prediction_gap_important", "", trial, *margins);
  // |p - p'| = e^-300 |1 - e^(5 e)|, e standard normal: above e^-300 x (1 - e^-5) / 2 from the negative half alone.
  EXPECT_GT(found.values[0], std::exp(-300.0) / 4);
  EXPECT_LT(found.values[0], 1e-100);
}

TEST(PredictionGapImportant, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("prediction_gap_important", ":samples=37", trial);
}

}  // namespace
}  // namespace assay::testing

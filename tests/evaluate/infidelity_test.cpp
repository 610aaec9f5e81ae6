#include "assay/evaluate/infidelity.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/evaluate/subsets/subset_trials.h"

namespace assay::testing {
namespace {

// Expected 1, 2 and lost 3, 2: squared gaps 4 and 0, mean 2; their deviation is sqrt(8), over sqrt(2): 2.
// The best factor is (1 * 3 + 2 * 2) / (1 + 4) = 7/5: gaps 1.4 - 3 and 2.8 - 2, squares 2.56 and 0.64, mean 1.6.
TEST(Infidelity, GapsByHand) {
  const std::vector<double> expected = {1, 2};
  const std::vector<double> lost = {3, 2};
  EXPECT_NEAR(mean_squared_gap(expected, lost, false).value, 2, 1e-15);
  EXPECT_NEAR(mean_squared_gap(expected, lost, false).standard_error, 2, 1e-15);
  EXPECT_NEAR(mean_squared_gap(expected, lost, true).value, 1.6, 1e-14);
  // Nothing to scale: the mean of 9 and 4.
  EXPECT_NEAR(mean_squared_gap(std::vector<double>{0, 0}, lost, true).value, 6.5, 1e-15);
  EXPECT_TRUE(std::isnan(mean_squared_gap(expected, std::vector<double>{NAN, 2}, false).value));
}

// Effects explain removals, and noise where columns differ from the reference; slopes explain both: all exact for a
// linear model.
TEST(Infidelity, APerfectExplanationOfALinearModelHasNone) {
  for (const size_t references : {1, 3}) {
    Trial effects = linear_trial(7, 6, 3, references);
    for (const char* options : {"", ":perturbation=noise", ":attributions=global:normalise_scale=true"}) {
      const Scores scores = scored("infidelity", fmt::format(":samples=200{}", options), effects);
      for (const double value : scores.values) EXPECT_LT(value, 1e-9) << options;
    }
    // Weights back from effects: slopes, the same for all rows.
    Trial slopes = linear_trial(7, 6, 3, references);
    for (size_t c = 0; c < 7; c++) {
      double mean = 0;
      for (size_t r = 0; r < references; r++) {
        mean += slopes.setting->reference.rows(r, c) / static_cast<double>(references);
      }
      for (size_t r = 0; r < 6; r++) {
        slopes.explanations.values(r, c) =
            static_cast<float>(slopes.explanations.values(r, c) / (slopes.data->x(r, c) - mean));
      }
    }
    for (const char* options : {":perturbation=removal", ":perturbation=noise"}) {
      const Scores local = scored("infidelity", fmt::format(":samples=200:attributions=local{}", options), slopes);
      for (const double value : local.values) EXPECT_LT(value, 1e-8) << options;
      const Scores wrong = scored("infidelity", fmt::format(":samples=200:attributions=global{}", options), slopes);
      EXPECT_GT(wrong.mean, 0.01) << "taken as effects they are wrong";
    }
  }
}

// Nothing attributed: the mean square of what noise changes, scale^2 sum of (w_c s_c)^2 for a linear model.
TEST(Infidelity, NoiseHasItsClosedForm) {
  const std::vector<float> weights = {2, -3, 0.5F};
  Trial trial = trial_of(setting_of(linear_model(weights), matrix_of({{1, 2, 3}}), matrix_of({{0, 0, 0}})),
                         matrix_of({{0, 0, 0}}));
  trial.setting->reference.scales = {1, 0.5F, 4};
  // 0.3^2 (2^2 + 1.5^2 + 2^2) = 0.09 * 10.25
  const Scores scores = scored("infidelity", ":perturbation=noise:scale=0.3:samples=20000", trial);
  EXPECT_NEAR(scores.values[0], 0.09 * 10.25, 4 * scores.standard_error[0]);
  // A chi-square of one degree: deviation sqrt(2) of its mean.
  EXPECT_NEAR(scores.standard_error[0], 0.09 * 10.25 * std::sqrt(2.0 / 20000), 0.1 * scores.standard_error[0]);
  EXPECT_EQ(scores.evaluations, 20001U);
  // Columns of scale 0 are not moved.
  trial.setting->reference.scales = {0, 0.5F, 0};
  const Scores one = scored("infidelity", ":perturbation=noise:scale=0.3:samples=20000", trial);
  EXPECT_NEAR(one.values[0], 0.09 * 2.25, 4 * one.standard_error[0]);
}

// The expectation over all sets of removed players, each size alike, by masked rows; groups and a background.
TEST(Infidelity, RemovalIsWithinItsErrorsOfTheExactExpectation) {
  Trial trial = network_trial({.players = 5, .columns = 9, .rows = 12, .references = 2}, 2);
  const Scores scores = scored("infidelity", ":samples=2000", trial);
  for (size_t row = 0; row < 12; row++) {
    double exact = 0;
    const double whole = value_without(*trial.setting, row, 0);
    const std::vector<double> sets = {1, 5, 10, 10, 5, 1};
    for (uint64_t removed = 1; removed < 32; removed++) {
      double expected = 0;
      for (size_t p = 0; p < 5; p++) {
        if ((removed >> p & 1) != 0) expected += trial.explanations.values(row, p);
      }
      const double gap = expected - (whole - value_without(*trial.setting, row, removed));
      exact += gap * gap / 5 / sets[static_cast<size_t>(std::popcount(removed))];
    }
    EXPECT_NEAR(scores.values[row], exact, 4.5 * scores.standard_error[row]) << row;
    EXPECT_LT(scores.standard_error[row], 0.2 * exact);
  }
  EXPECT_EQ(scores.evaluations, 12U * 2 * 2001);
}

TEST(Infidelity, ScalingNeverMakesItWorse) {
  Trial trial = network_trial({.rows = 20}, 3);
  const Scores raw = scored("infidelity", ":samples=100", trial);
  const Scores best = scored("infidelity", ":samples=100:normalise_scale=true", trial);
  for (size_t r = 0; r < 20; r++) EXPECT_LE(best.values[r], raw.values[r] * (1 + 1e-12));
  // And does not depend on the scale.
  for (float& v : trial.explanations.values.values()) v *= 10;
  const Scores scaled = scored("infidelity", ":samples=100:normalise_scale=true", trial);
  for (size_t r = 0; r < 20; r++) EXPECT_NEAR(scaled.values[r], best.values[r], 1e-5 * best.values[r]);
}

TEST(Infidelity, TakesSlopesOrEffectsByTheMethod) {
  for (const char* method : {"gradient", "smooth_grad", "gradient_x_input", "occlusion"}) {
    Trial trial = linear_trial(4, 3, 2);
    Trial made = explained_trial(std::move(*trial.setting), method);
    made.setting->reference.scales.assign(4, 1);
    const Scores scores = scored("infidelity", ":samples=50", made);
    EXPECT_LT(scores.mean, 1e-9) << method << " is exact for a linear model, rightly read";
    const bool slope = std::string_view(method) == "gradient" || std::string_view(method) == "smooth_grad";
    EXPECT_EQ(scores.notes.at(0), slope ? "attributions are taken as slopes (local)"
                                        : "attributions are taken as effects against the reference (global)");
  }
}

TEST(Infidelity, AConstantModelIsExplainedByNothing) {
  Trial trial = trial_of(setting_of(constant_model(2, 4), matrix_of({{1, 2}, {3, 4}, {1, 1}}), matrix_of({{0, 0}})),
                         matrix_of({{0, 0}, {1, 1}, {NAN, 1}}));
  const Scores scores = scored("infidelity", ":samples=3000", trial);
  EXPECT_EQ(scores.values[0], 0);
  // One of two players in half of the draws: 1; both in the other half: 4.
  EXPECT_NEAR(scores.values[1], 2.5, 4 * scores.standard_error[1]);
  EXPECT_TRUE(std::isnan(scores.values[2]));
  EXPECT_EQ(scores.undefined.at(0).reason, "attributions are not all numbers");
}

TEST(Infidelity, EffectsOfColumnsAtTheReferenceHaveNoSlope) {
  Trial trial = trial_of(setting_of(linear_model({1, 1}), matrix_of({{1, 0}, {1, 0}}), matrix_of({{0, 0}})),
                         matrix_of({{1, 0}, {1, 0.5F}}));
  trial.setting->reference.scales = {1, 1};
  const Scores scores = scored("infidelity", ":perturbation=noise:scale=0.1:samples=4000", trial);
  // The second column's noise is not foreseen: 0.1^2.
  EXPECT_NEAR(scores.values[0], 0.01, 4 * scores.standard_error[0]);
  EXPECT_TRUE(std::isnan(scores.values[1]));
  EXPECT_EQ(scores.undefined.at(0).reason, "a column that equals the reference has an attribution, but no slope");
}

TEST(Infidelity, TheMeanHasTheErrorOfTheDrawsThatRowsShare) {
  Trial trial = alike_trial(8, 40, 3);
  for (const char* options : {"", ":perturbation=noise", ":normalise_scale=true", ":perturbation=noise:scale=0.5"}) {
    expect_mean_spreads_by_shared_error("infidelity", fmt::format(":attributions=local:samples=150{}", options), trial);
    const std::string few = fmt::format(":samples=60{}", options);
    EXPECT_EQ(scored("infidelity", few, trial, on_threads(1)).shared_error,
              scored("infidelity", few, trial, on_threads(7)).shared_error);
  }
  // Equal rows: the error of one.
  Trial equal = linear_trial(5, 3, 2);
  for (size_t r = 1; r < 3; r++) {
    std::ranges::copy(equal.data->x.row(0), equal.data->x.row(r).begin());
    std::ranges::fill(equal.explanations.values.row(r), 1.0F);
  }
  equal.explanations.values(0, 0) = NAN;
  const Scores scores = scored("infidelity", ":samples=50", equal);
  EXPECT_GT(scores.standard_error[1], 0);
  EXPECT_NEAR(scores.shared_error, scores.standard_error[1], 1e-12 * scores.standard_error[1]);
}

// Steps of float32 at 1e7 are 1: noise of 0.1 never gets there, and nothing was tried.
TEST(Infidelity, NoiseBelowRoundingIsUndefined) {
  Trial trial = trial_of(setting_of(linear_model({1, 1}), matrix_of({{1e7F, 1e7F}, {1, 1e7F}}), matrix_of({{0, 0}})),
                         matrix_of({{1, 1}, {1, 1}}));
  trial.setting->reference.scales = {1, 1};
  const Scores scores = scored("infidelity", ":perturbation=noise:scale=0.1:samples=100", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  EXPECT_EQ(scores.undefined.at(0).reason, "the noise is lost in the rounding of the row's numbers");
  EXPECT_EQ(scores.undefined.at(0).rows, 1U);
  EXPECT_FALSE(std::isnan(scores.values[1])) << "one column of it moves";
  EXPECT_EQ(scores.coverage, 0.5);
}

TEST(Infidelity, NeedsAReferenceButForSlopesWithNoise) {
  const CriterionInfo& info = find_criterion("infidelity");
  const auto needs = [&](const std::string& options) {
    return info.make(parse_spec("criterion", "infidelity" + options))->needs(info.needs);
  };
  EXPECT_TRUE(info.needs.reference);
  EXPECT_TRUE(needs("").reference);
  EXPECT_TRUE(needs(":attributions=local").reference);
  EXPECT_TRUE(needs(":perturbation=noise:attributions=global").reference);
  EXPECT_FALSE(needs(":perturbation=noise:attributions=local").reference);
  EXPECT_FALSE(needs(":perturbation=noise").reference) << "it depends on the method: refused where it must be";
  EXPECT_TRUE(needs(":perturbation=noise").model);
  Trial trial = linear_trial(3, 2, 1);
  trial.setting->reference.rows = Matrix();
  const auto noise = find_criterion("infidelity").make(parse_spec("criterion", "infidelity:perturbation=noise"));
  EXPECT_EQ(noise->refuses(trial.task()), "needs a reference that stands for absent features");
  trial.method = parse_spec("method", "gradient");
  EXPECT_EQ(noise->refuses(trial.task()), std::nullopt);
}

TEST(Infidelity, Refusals) {
  const auto reason = [](Trial& trial, const std::string& options) { return refusal_of("infidelity", options, trial); };
  Trial groups = network_trial({.players = 3, .columns = 6}, 1);
  EXPECT_EQ(reason(groups, ""), "");
  EXPECT_EQ(reason(groups, ":perturbation=noise"), "needs players of one column each for noise");
  EXPECT_EQ(reason(groups, ":attributions=local"),
            "needs players of one column each for local attributions, which are slopes");
  Trial trial = linear_trial(3, 2, 1);
  EXPECT_EQ(reason(trial, ":perturbation=noise"), "");
  trial.setting->reference.scales = {0, 0, 0};
  EXPECT_EQ(reason(trial, ":perturbation=noise"), "needs a column of numbers that vary over the pool for its noise");
  trial.setting->reference.scales = {};
  EXPECT_EQ(reason(trial, ":perturbation=noise"), "needs a pool for the scale of its noise");
  EXPECT_EQ(reason(trial, ""), "");
  trial.setting->reference.rows = Matrix();
  EXPECT_EQ(reason(trial, ""), "needs a reference that stands for absent features");
}

TEST(Infidelity, SameBitsOnAnyNumberOfThreads) {
  Trial trial = network_trial({.players = 9, .columns = 9, .rows = 40, .references = 2}, 8);
  expect_same_scores_on_threads("infidelity", ":samples=60", trial);
  expect_same_scores_on_threads("infidelity", ":samples=60:perturbation=noise", trial);
  const auto model = black_box_model(2, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = x(r, 0) * x(r, 1);
  });
  Trial box =
      trial_of(setting_of(model, matrix_of({{1, 2}, {3, 4}}), matrix_of({{0, 0}})), matrix_of({{1, 1}, {6, 6}}));
  expect_same_scores_on_threads("infidelity", ":samples=60", box);
}

TEST(Infidelity, OnePlayer) {
  Trial trial = linear_trial(1, 3, 1);
  for (const double value : scored("infidelity", ":samples=10", trial).values) EXPECT_LT(value, 1e-10);
}

}  // namespace
}  // namespace assay::testing

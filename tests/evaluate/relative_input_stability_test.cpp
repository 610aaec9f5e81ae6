#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/again/relative_stability.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

Scores over_points(Trial& trial, const RelativeStabilityOptions& options, const Perturb& points) {
  Scores scores;
  scores.values.assign(trial.explanations.rows(), NAN);
  score_relative_over(trial.task(), options, RelativeTo::input, points, "test", scores, {});
  return scores;
}

RelativeStabilityOptions two_points(const std::string& zeros = "leave_out") {
  RelativeStabilityOptions made;
  made.samples = 2;
  made.zeros = zeros;
  return made;
}

// Zeros are left out, or the change is relative to the given number: (2 - 1) / 2, (0 - 3) / 0.5.
TEST(RelativeInputStability, RelativeChangesByElement) {
  const std::vector<float> from = {2, 0};
  const std::vector<float> to = {1, 3};
  EXPECT_EQ(relative_change(from, to, 0), 0.5);
  EXPECT_DOUBLE_EQ(relative_change(from, to, 0.5), std::hypot(0.5, 6));
}

// f = x1^2 x2 has the gradient (2 x1 x2, x1^2): (16, 4) at (2, 4). Point (3, 4): (24, 9), changes (-1/2, -5/4) over
// 1/2: 2 sqrt(1/4 + 25/16) = sqrt(29) / 2 = 2.693. Point (2, 6): (24, 4), changes (-1/2, 0) over 1/2: 1.
TEST(RelativeInputStability, IsTheLargestRatioByHand) {
  auto graph = model({node("Mul", {"a", "a"}, {"aa"}), node("Mul", {"aa", "b"}, {"y"})},
                     {value("a", {-1, 1}), value("b", {-1, 1})}, {value("y", {-1, 1})});
  Setting setting =
      setting_of(EngineModel::from_onnx("cubic", std::move(graph)), matrix_of({{2, 4}}), matrix_of({{0, 0}}));
  Trial trial = explained_trial(std::move(setting), "gradient");
  const Perturb points = [](size_t draw, size_t /*row*/, std::span<const float> x, std::span<float> y) {
    y[0] = x[0] + (draw == 0 ? 1 : 0);
    y[1] = x[1] + (draw == 1 ? 2 : 0);
  };
  EXPECT_DOUBLE_EQ(over_points(trial, two_points(), points).values[0], std::sqrt(29.0) / 2);
}

// gradient x input of w . x is w_i x_i: every relative change is that of the input, and the ratio is 1 for any point.
TEST(RelativeInputStability, ALinearModelByGradientTimesInputScoresOne) {
  auto graph = model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 3})}, {value("y", {-1, 1})},
                     {floats("w", {3, 1}, {2, -3, 4})});
  Setting setting = setting_of(EngineModel::from_onnx("linear", std::move(graph)), matrix_of({{1, 2, 3}, {-5, 0, 2}}),
                               matrix_of({{0, 0, 0}}));
  Trial trial = explained_trial(std::move(setting), "gradient_x_input");
  const Scores scores = scored("relative_input_stability", ":space=raw", trial);
  // The second row has a zero: left out of both sides, what remains is still 1.
  EXPECT_NEAR(scores.values[0], 1, 1e-4);
  EXPECT_NEAR(scores.values[1], 1, 1e-4);
  // With epsilon both sides are as good as infinite and their ratio is that of the zero's element alone: w = -3.
  EXPECT_NEAR(scored("relative_input_stability", ":space=raw:zeros=epsilon", trial).values[1], 3, 1e-3);
}

TEST(RelativeInputStability, AConstantGradientScoresZero) {
  Trial trial = explained_trial(setting_of(linear_toy()), "gradient");
  const Scores scores = scored("relative_input_stability", ":space=raw", trial);
  EXPECT_EQ(scores.values, std::vector<double>({0, 0}));
  EXPECT_EQ(scores.evaluations, 40U);  // no classes: no predictions
}

// A binary model x > 0 with f = x^3 (gradient 3 x^2): at x = 1 the point -1 has the other class and does not count.
// Point 2: (3 - 12) / 3 = -3 over (1 - 2) / 1: 3. Alone with -1: undefined.
TEST(RelativeInputStability, PointsOfAnotherClassDoNotCount) {
  auto graph = model({node("Mul", {"x", "x"}, {"xx"}), node("Mul", {"xx", "x"}, {"m"}), node("Sigmoid", {"m"}, {"y"})},
                     {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Setting setting = setting_of(EngineModel::from_onnx("cube", std::move(graph)), matrix_of({{1}}), matrix_of({{0}}));
  ASSERT_EQ(setting.model->info().class_names.size(), 2U);
  Trial trial = explained_trial(std::move(setting), "gradient");
  const auto points = [](float first, float second) {
    return [=](size_t draw, size_t /*row*/, std::span<const float> /*x*/, std::span<float> y) {
      y[0] = draw == 0 ? first : second;
    };
  };
  EXPECT_DOUBLE_EQ(over_points(trial, two_points(), points(2, -1)).values[0], 3);
  const Scores none = over_points(trial, two_points(), points(-2, -1));
  EXPECT_TRUE(std::isnan(none.values[0]));
  ASSERT_EQ(none.undefined.size(), 1U);
  EXPECT_EQ(none.undefined[0].reason, "no perturbed row keeps the predicted class");
}

TEST(RelativeInputStability, Degenerate) {
  Trial trial = explained_trial(setting_of(product_toy()), "gradient");
  trial.data->x = matrix_of({{0, 0}, {1, 1}});
  trial.explanations = explanations_of(matrix_of({{1, 1}, {0, 0}}));
  const Scores scores = scored("relative_input_stability", ":space=raw", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));  // all columns are 0: nothing to be relative to
  EXPECT_TRUE(std::isnan(scores.values[1]));  // all attributions are 0
  EXPECT_EQ(scores.undefined.size(), 2U);
  const Scores epsilon = scored("relative_input_stability", ":space=raw:zeros=epsilon", trial);
  EXPECT_TRUE(std::isfinite(epsilon.values[0]));
  EXPECT_TRUE(std::isfinite(epsilon.values[1]));
  trial.setting->reference.scales = {0, 0};
  EXPECT_EQ(scored("relative_input_stability", "", trial).undefined.at(0).reason, kNothingMoves);
}

// f = x1^2 with a missing x1 as 3, plus x2^2: a model that has an output whatever is missing.
std::shared_ptr<const Model> patient_model(bool classes) {
  ModelInfo info;
  info.name = "patient";
  info.feature_names = {"x1", "x2"};
  info.output_names = {"y"};
  if (classes) info.class_names = {"no", "yes"};
  info.unit = classes ? OutputUnit::margin : OutputUnit::value;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) {
      const float first = std::isnan(rows(r, 0)) ? 3 : rows(r, 0);
      outputs(r, 0) = first * first + rows(r, 1) * rows(r, 1);
    }
  });
}

// Occlusion against 0: (9, x2^2). From x2 = 2 to 3: (4 - 9) / 4 = -5/4 over (2 - 3) / 2: 2.5. The missing column is not
// moved, and its change is no number.
TEST(RelativeInputStability, MissingColumnsTakeNoPart) {
  EXPECT_EQ(relative_change(std::vector<float>{NAN, 2}, std::vector<float>{NAN, 1}, 0), 0.5);
  EXPECT_EQ(relative_change(std::vector<float>{NAN, 2}, std::vector<float>{NAN, 1}, 1e-6), 0.5);
  for (const bool classes : {false, true}) {
    Trial trial =
        explained_trial(setting_of(patient_model(classes), matrix_of({{NAN, 2}}), matrix_of({{0, 0}})), "occlusion");
    ASSERT_EQ(trial.explanations.values(0, 0), 9);
    const Perturb points = [](size_t draw, size_t /*row*/, std::span<const float> x, std::span<float> y) {
      y[0] = x[0];
      y[1] = x[1] + static_cast<float>(draw);
    };
    for (const std::string zeros : {"leave_out", "epsilon"}) {
      const Scores found = over_points(trial, two_points(zeros), points);
      EXPECT_DOUBLE_EQ(found.values[0], 2.5) << zeros;
      EXPECT_TRUE(found.undefined.empty());
    }
  }
}

// Each reason is the row's own: nothing but zeros and missing columns, all missing, infinite, no output.
TEST(RelativeInputStability, SaysWhyThereIsNoScore) {
  const auto reason = [](std::vector<float> row, const std::string& zeros, bool classes) {
    Trial trial =
        explained_trial(setting_of(patient_model(classes), matrix_of({{1, 2}}), matrix_of({{0, 0}})), "occlusion");
    trial.data->x = matrix_of({row});
    const Perturb points = [](size_t draw, size_t /*row*/, std::span<const float> x, std::span<float> y) {
      for (size_t c = 0; c < 2; c++) y[c] = x[c] + static_cast<float>(draw);
    };
    const Scores found = over_points(trial, two_points(zeros), points);
    EXPECT_TRUE(std::isnan(found.values[0]));
    return found.undefined.empty() ? "" : found.undefined[0].reason;
  };
  EXPECT_EQ(reason({NAN, 0}, "leave_out", false), "no column that is neither 0 nor missing was moved");
  EXPECT_EQ(reason({NAN, NAN}, "leave_out", false), "all inputs are missing");
  EXPECT_EQ(reason({NAN, NAN}, "epsilon", false), "all inputs are missing");
  EXPECT_EQ(reason({1, NAN}, "leave_out", true), "the model's outputs are not all numbers");
  EXPECT_EQ(reason({1, NAN}, "leave_out", false), kAgainNotFinite);
}

// Where the row itself has no output there is no class that a point could keep, or not keep.
TEST(RelativeInputStability, ARowWithoutOutputsHasNoClass) {
  Trial trial = explained_trial(setting_of(patient_model(true), matrix_of({{1, 2}}), matrix_of({{0, 0}})), "occlusion");
  trial.data->x = matrix_of({{1, NAN}});
  const Perturb points = [](size_t draw, size_t, std::span<const float>, std::span<float> y) {
    y[0] = static_cast<float>(draw + 1);
    y[1] = 2;
  };
  EXPECT_EQ(over_points(trial, two_points(), points).undefined.at(0).reason, "the model's outputs are not all numbers");
}

// The change of the row overflows, not the model.
TEST(RelativeInputStability, InfiniteInputsAreNotTheModels) {
  ModelInfo info;
  info.name = "constant";
  info.feature_names = {"x1"};
  info.output_names = {"y"};
  const std::shared_ptr<const Model> one =
      model_from_function(info, [](MatrixView<const float>, MatrixView<float> outputs) {
        for (size_t r = 0; r < outputs.rows(); r++) outputs(r, 0) = 1;
      });
  Trial trial = explained_trial(setting_of(one, matrix_of({{1}}), matrix_of({{0}})), "occlusion");
  trial.explanations = explanations_of(matrix_of({{1}}));
  trial.data->x = matrix_of({{std::numeric_limits<float>::infinity()}});
  const Perturb points = [](size_t, size_t, std::span<const float> x, std::span<float> y) { y[0] = x[0]; };
  const Scores found = over_points(trial, two_points(), points);
  EXPECT_EQ(found.undefined.at(0).reason, "the row, or a perturbed one, has an infinite input");
}

TEST(RelativeInputStability, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(fixture_setting("torch_mlp_script"), "gradient_x_input");
  expect_same_scores_on_threads("relative_input_stability", ":space=raw:samples=5", trial);
}

}  // namespace
}  // namespace assay::testing

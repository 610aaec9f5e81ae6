#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/again/relative_stability.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

Scores over_points(Trial& trial, const Perturb& points, const std::string& zeros = "leave_out") {
  RelativeStabilityOptions options;
  options.samples = 2;
  options.zeros = zeros;
  Scores scores;
  scores.values.assign(trial.explanations.rows(), NAN);
  score_relative_over(trial.task(), options, RelativeTo::output, points, "test", scores, {});
  return scores;
}

// f = x^2, e = 2 x. At x = 2 to point 3: (4 - 6) / 4 = -1/2 over |4 - 9| = 5: 0.1. To point 1: (4 - 2) / 4 = 1/2 over
// |4 - 1| = 3: 1/6, the larger.
TEST(RelativeOutputStability, IsTheLargestRatioByHand) {
  auto graph = model({node("Mul", {"x", "x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Trial trial = explained_trial(
      setting_of(EngineModel::from_onnx("square", std::move(graph)), matrix_of({{2}}), matrix_of({{0}})), "gradient");
  const Perturb points = [](size_t draw, size_t /*row*/, std::span<const float> x, std::span<float> y) {
    y[0] = x[0] + (draw == 0 ? 1 : -1);
  };
  const Scores scores = over_points(trial, points);
  EXPECT_DOUBLE_EQ(scores.values[0], 1.0 / 6);
  EXPECT_EQ(scores.evaluations, 5U);  // the row, two points predicted, two explained
}

// Two classes with logits (x1, x2), explained for the first; gradient x input gives (x1, 0), the second left out. From
// (4, 1) to (5, 3): 1/4 over || (-1, -2) || = sqrt 5. To (4, 6) the class is another one: it does not count, though its
// explanation is the same.
TEST(RelativeOutputStability, MeasuresAllOutputsAndKeepsTheClass) {
  auto graph = model({node("MatMul", {"x", "w"}, {"m"}), node("Softmax", {"m"}, {"y"})}, {value("x", {-1, 2})},
                     {value("y", {-1, 2})}, {floats("w", {2, 2}, {1, 0, 0, 1})});
  Trial trial = explained_trial(setting_of(EngineModel::from_onnx("two", std::move(graph)), matrix_of({{4, 1}}),
                                           matrix_of({{0, 0}}), "predicted"),
                                "gradient_x_input");
  const Perturb points = [](size_t draw, size_t /*row*/, std::span<const float> x, std::span<float> y) {
    y[0] = x[0] + (draw == 0 ? 1 : 0);
    y[1] = x[1] + (draw == 0 ? 2 : 5);
  };
  EXPECT_DOUBLE_EQ(over_points(trial, points).values[0], 0.25 / std::sqrt(5.0));
}

// relu(x) is flat below 0: output and explanation stay, 0 / epsilon = 0. Attributions given as 1 there change by all of
// themselves while the output stays: 1 / epsilon.
TEST(RelativeOutputStability, AnOutputThatStaysIsEpsilon) {
  auto graph = model({node("Relu", {"x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Trial trial = explained_trial(
      setting_of(EngineModel::from_onnx("relu", std::move(graph)), matrix_of({{-5}}), matrix_of({{0}})), "gradient");
  const Perturb points = [](size_t draw, size_t /*row*/, std::span<const float> x, std::span<float> y) {
    y[0] = x[0] - static_cast<float>(draw);
  };
  EXPECT_EQ(over_points(trial, points).undefined.at(0).reason, kAllZero);
  EXPECT_EQ(over_points(trial, points, "epsilon").values[0], 0);
  trial.explanations = explanations_of(matrix_of({{1}}));
  EXPECT_NEAR(over_points(trial, points).values[0], 1e6, 1e-3);
}

TEST(RelativeOutputStability, UndefinedWhereThereAreNoNumbers) {
  auto graph = model({node("Log", {"x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Trial trial = explained_trial(
      setting_of(EngineModel::from_onnx("log", std::move(graph)), matrix_of({{1}, {9}}), matrix_of({{1}})), "gradient");
  const Perturb points = [](size_t /*draw*/, size_t /*row*/, std::span<const float> x, std::span<float> y) {
    y[0] = x[0] - 2;
  };
  const Scores scores = over_points(trial, points);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  EXPECT_TRUE(std::isfinite(scores.values[1]));
  ASSERT_EQ(scores.undefined.size(), 1U);
  EXPECT_EQ(scores.undefined[0].reason, kAgainNotFinite);
}

TEST(RelativeOutputStability, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(fixture_setting("torch_mlp_script"), "gradient_x_input");
  expect_same_scores_on_threads("relative_output_stability", ":space=raw:samples=5", trial);
}

}  // namespace
}  // namespace assay::testing

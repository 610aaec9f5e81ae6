#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// f = x^2 in one column, at these rows.
Setting square_setting(const std::vector<std::vector<float>>& rows) {
  auto graph = model({node("Mul", {"x", "x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  return setting_of(EngineModel::from_onnx("square", std::move(graph)), matrix_of(rows), matrix_of({{0}}));
}

TEST(MaxSensitivityYeh, AConstantGradientIsNotSensitive) {
  Trial trial = explained_trial(setting_of(linear_toy()), "gradient");
  const Scores scores = scored("max_sensitivity_yeh", ":space=raw:radius=3", trial);
  EXPECT_EQ(scores.values, std::vector<double>({0, 0}));
  EXPECT_EQ(scores.evaluations, 20U);  // 2 rows x 10 points
}

// phi = 2 x, so || phi(y) - phi(x) || = 2 |y - x|: at most 2 radius, and close to it with many points.
TEST(MaxSensitivityYeh, ApproachesTheClosedFormOfASquare) {
  Trial trial = explained_trial(square_setting({{0}, {0.5F}}), "gradient");
  const Scores few = scored("max_sensitivity_yeh", ":space=raw:radius=0.25:samples=5", trial);
  const Scores many = scored("max_sensitivity_yeh", ":space=raw:radius=0.25:samples=2000", trial);
  for (size_t r = 0; r < 2; r++) {
    EXPECT_LE(many.values[r], 0.5 + 1e-6);
    EXPECT_GT(many.values[r], 0.499);
    // The first five points are among the 2,000.
    EXPECT_LE(few.values[r], many.values[r]);
    EXPECT_GT(few.values[r], 0);
  }
  // In units of a deviation of 3 the box is three times as wide.
  trial.setting->reference.scales = {3};
  const Scores scaled = scored("max_sensitivity_yeh", ":radius=0.25:samples=2000", trial);
  EXPECT_NEAR(scaled.values[0], 3 * many.values[0], 1e-5);
}

// The points that seed 4 makes in the box of this half side, as the criterion takes them.
Perturb points_of(double radius, size_t columns, size_t samples) {
  return make_noise(NoiseShape::uniform, radius, std::vector<float>(columns, 1.0F), samples, 4, "max_sensitivity_yeh");
}

// phi = 2 x: the largest 2 |y - x| over the points. Over |phi| = 2 |x| = 4 at x = 2; at x = 0 undefined.
TEST(MaxSensitivityYeh, IsTheLargestOverItsPoints) {
  Trial trial = explained_trial(square_setting({{2}, {0}}), "gradient");
  const Perturb points = points_of(3, 1, 3);
  std::vector<double> largest(2, 0);
  for (size_t r = 0; r < 2; r++) {
    for (size_t s = 0; s < 3; s++) {
      float y = 0;
      points(s, r, trial.data->x.row(r), {&y, 1});
      largest[r] = std::max(largest[r], 2 * std::abs(static_cast<double>(y) - trial.data->x(r, 0)));
    }
    EXPECT_GT(largest[r], 0);
  }
  const std::string options = ":space=raw:radius=3:samples=3";
  EXPECT_EQ(scored("max_sensitivity_yeh", options, trial, on_threads(2, 4)).values, largest);
  const Scores over = scored("max_sensitivity_yeh", options + ":over=explanation", trial, on_threads(2, 4));
  EXPECT_EQ(over.values[0], largest[0] / 4);
  EXPECT_TRUE(std::isnan(over.values[1]));
  ASSERT_EQ(over.undefined.size(), 1U);
  EXPECT_EQ(over.undefined[0].reason, kAllZero);
}

// By brute force: every point explained by itself.
TEST(MaxSensitivityYeh, AgreesWithOneCallForEachPoint) {
  Trial trial = explained_trial(fixture_setting("torch_mlp_script"), "integrated_gradients");
  const Scores scores = scored("max_sensitivity_yeh", ":space=raw:radius=0.5:samples=3", trial, on_threads(2, 4));
  const Setting& setting = *trial.setting;
  const size_t columns = setting.rows.cols();
  const Perturb noise = points_of(0.5, columns, 3);
  for (size_t r = 0; r < setting.rows.rows(); r++) {
    double largest = 0;
    for (size_t s = 0; s < 3; s++) {
      Matrix point(1, columns);
      noise(s, r, setting.rows.row(r), point.row(0));
      // The class stays that of the row.
      const Targets targets = slice_targets(setting.targets, r, r + 1);
      const Explanations found =
          explain(*trial.method, {*setting.model, point.view(), targets, setting.reference, setting.players}, {});
      double squares = 0;
      for (size_t p = 0; p < columns; p++) {
        squares += std::pow(static_cast<double>(found.values(0, p)) - trial.explanations.values(r, p), 2);
      }
      largest = std::max(largest, std::sqrt(squares));
    }
    EXPECT_DOUBLE_EQ(scores.values[r], largest);
  }
}

// A sampled method draws the same at the points as at the row, whatever the seed of the points: no radius, no change.
TEST(MaxSensitivityYeh, DoesNotCountTheMethodsOwnNoise) {
  Trial trial = explained_trial(fixture_setting("torch_cnn_script"), "shapley_sampling:permutations=2");
  const Scores still = scored("max_sensitivity_yeh", ":space=raw:radius=0", trial, on_threads(2, 77));
  for (const double value : still.values) EXPECT_EQ(value, 0);
}

TEST(MaxSensitivityYeh, ARowsScoreDoesNotDependOnTheOthers) {
  Trial all = explained_trial(square_setting({{1}, {2}, {3}}), "gradient_x_input");
  Trial one = explained_trial(square_setting({{3}}), "gradient_x_input");
  EXPECT_EQ(scored("max_sensitivity_yeh", ":space=raw", all).values[2],
            scored("max_sensitivity_yeh", ":space=raw", one).values[0]);
}

// ln x at 0.01 has points below 0 among those within 1; at 5 it has none. Given attributions that are no numbers.
TEST(MaxSensitivityYeh, UndefinedWhereAPointHasNoExplanation) {
  auto graph = model({node("Log", {"x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Trial trial = explained_trial(
      setting_of(EngineModel::from_onnx("log", std::move(graph)), matrix_of({{0.01F}, {5}, {6}}), matrix_of({{1}})),
      "gradient");
  trial.explanations.values(2, 0) = std::numeric_limits<float>::infinity();
  const Scores scores = scored("max_sensitivity_yeh", ":space=raw:radius=1", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  EXPECT_GT(scores.values[1], 0);
  EXPECT_TRUE(std::isnan(scores.values[2]));
  ASSERT_EQ(scores.undefined.size(), 2U);
  EXPECT_EQ(scores.undefined[0].reason, kAgainNotFinite);
  EXPECT_EQ(scores.undefined[1].reason, kNotFinite);
}

TEST(MaxSensitivityYeh, UndefinedWhereNothingMoves) {
  Trial trial = explained_trial(square_setting({{1}}), "gradient");
  trial.setting->reference.scales = {0};
  const Scores scores = scored("max_sensitivity_yeh", "", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  ASSERT_EQ(scores.undefined.size(), 1U);
  EXPECT_EQ(scores.undefined[0].reason, kNothingMoves);
}

TEST(MaxSensitivityYeh, NeedsAUnit) {
  Trial trial = explained_trial(square_setting({{1}}), "gradient");
  EXPECT_NE(refusal_of("max_sensitivity_yeh", "", trial), "");
  EXPECT_EQ(refusal_of("max_sensitivity_yeh", ":space=raw", trial), "");
}

// Players of several columns: the gradients of f = x1 x2 are summed, phi = (x2 + x1), which a point y moves by
// (y1 - x1) + (y2 - x2).
TEST(MaxSensitivityYeh, GroupsOfColumns) {
  Setting setting = setting_of(product_toy());
  setting.players = players_of({0, 0}, 1);
  Trial trial = explained_trial(std::move(setting), "gradient");
  const Scores scores = scored("max_sensitivity_yeh", ":space=raw:radius=3:samples=1", trial, on_threads(2, 4));
  const Perturb points = points_of(3, 2, 1);
  for (size_t r = 0; r < 2; r++) {
    const std::span<const float> x = trial.data->x.row(r);
    std::vector<float> y(2);
    points(0, r, x, y);
    EXPECT_NEAR(scores.values[r], std::abs(y[0] - x[0] + (y[1] - x[1])), 1e-5);
  }
}

TEST(MaxSensitivityYeh, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(fixture_setting("torch_mlp_script"), "exact_shapley");
  expect_same_scores_on_threads("max_sensitivity_yeh", ":space=raw:over=explanation:samples=4", trial);
}

}  // namespace
}  // namespace assay::testing

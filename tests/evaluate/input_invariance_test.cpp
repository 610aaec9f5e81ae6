#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

Setting scaled(Setting setting, std::vector<float> scales) {
  setting.reference.scales = std::move(scales);
  return setting;
}

TEST(InputInvariance, GradientsDoNotSeeTheShift) {
  for (const std::string options : {"", ":reference=shifted", ":space=raw:shift=-7"}) {
    Trial trial = explained_trial(scaled(setting_of(linear_toy()), {1, 2, 3}), "gradient");
    EXPECT_EQ(scored("input_invariance", options, trial).values, std::vector<double>({0, 0}));
  }
}

// w = (2, -3, 0): phi_i = w_i x_i becomes w_i (x_i + c_i), so D = || w c ||. c = 0.5 (1, 2, 3): (1, -3, 0), l2
// sqrt(10), l1 4, and two players differ. The reference takes no part.
TEST(InputInvariance, GradientTimesInputByHand) {
  Trial trial = explained_trial(scaled(setting_of(linear_toy()), {1, 2, 3}), "gradient_x_input");
  const Scores scores = scored("input_invariance", ":shift=0.5", trial);
  EXPECT_NEAR(scores.values[0], std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(scores.values[1], std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(scored("input_invariance", ":shift=0.5:distance=l1:reference=shifted", trial).values[0], 4, 1e-6);
  EXPECT_EQ(scored("input_invariance", ":shift=0.5:distance=l0", trial).values[0], 2);
}

// Shapley values of a linear model are w (x - r): with the reference fixed they move by w c, with it shifted they stay.
TEST(InputInvariance, TheReferenceDecidesForShapleyValues) {
  Trial trial = explained_trial(scaled(setting_of(linear_toy()), {1, 2, 3}), "exact_shapley");
  EXPECT_NEAR(scored("input_invariance", ":shift=0.5", trial).values[0], std::sqrt(10.0), 1e-5);
  EXPECT_NEAR(scored("input_invariance", ":shift=0.5:reference=shifted", trial).values[0], 0, 1e-5);
}

// Methods that are functions of the model and of differences alone, on a network, through all capabilities.
TEST(InputInvariance, AShiftedReferenceHidesTheShift) {
  for (const std::string method : {"exact_shapley", "kernel_shap", "integrated_gradients", "deeplift", "occlusion",
                                   "shapley_sampling:permutations=2", "smooth_grad:samples=5"}) {
    for (const std::string fixture : {"sklearn_mlp", "torch_mlp_script"}) {
      Setting setting = fixture_setting(fixture);
      const std::vector<float> scales(setting.rows.cols(), 0.5F);
      Trial trial = explained_trial(scaled(std::move(setting), scales), method);
      const Scores scores = scored("input_invariance", ":reference=shifted", trial);
      for (const double value : scores.values) EXPECT_LT(value, 1e-4) << method << " of " << fixture;
      if (method == "smooth_grad:samples=5") continue;  // knows no reference
      EXPECT_GT(scored("input_invariance", "", trial).mean, 1e-2) << method << " of " << fixture;
    }
  }
}

TEST(InputInvariance, BlackBoxes) {
  ModelInfo info;
  info.name = "f";
  info.feature_names = {"a", "b"};
  info.output_names = {"y"};
  const std::shared_ptr<const Model> model =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
        for (size_t r = 0; r < rows.rows(); r++) outputs(r, 0) = rows(r, 0) * rows(r, 1);
      });
  // v({a}) - v() and so on at (3, 2) with reference (0, 0): occlusion gives 6 and 6. The reference (0, 0) is (-1, -1)
  // to the shifted model: f(3, -1) = -3, so 6 - f(-1, 2) = 8 and 6 - f(3, -1) = 9. D = sqrt(4 + 9).
  Trial trial = explained_trial(setting_of(model, matrix_of({{3, 2}}), matrix_of({{0, 0}})), "occlusion");
  EXPECT_NEAR(scored("input_invariance", ":space=raw", trial).values[0], std::sqrt(13.0), 1e-6);
}

TEST(InputInvariance, UndefinedWhereNothingMovesOrNumbersAreMissing) {
  Trial trial = explained_trial(scaled(setting_of(linear_toy()), {0, 0, 0}), "gradient");
  EXPECT_EQ(scored("input_invariance", "", trial).undefined.at(0).rows, 2U);
  trial.explanations.values(1, 1) = std::numeric_limits<float>::quiet_NaN();
  const Scores scores = scored("input_invariance", ":space=raw", trial);
  EXPECT_EQ(scores.values[0], 0);
  EXPECT_TRUE(std::isnan(scores.values[1]));
  Trial without_deviations = explained_trial(setting_of(linear_toy()), "gradient");
  EXPECT_NE(refusal_of("input_invariance", "", without_deviations), "");
}

// Not "needs a model of trees", which the shifted trees would be refused with.
TEST(InputInvariance, SaysWhatCannotBeShifted) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Trial trial = explained_trial(scaled(setting_of(linear_toy()), {1, kInfinity, 3}), "gradient");
  const std::string name = trial.task().subject.model->info().feature_names[1];
  EXPECT_EQ(refusal_of("input_invariance", "", trial),
            "cannot shift column '" + name + "' by inf: its numbers in the pool are too large for a deviation");
  EXPECT_EQ(refusal_of("input_invariance", ":space=raw", trial), "");
}

TEST(InputInvariance, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(fixture_setting("torch_mlp_script"), "exact_shapley");
  expect_same_scores_on_threads("input_invariance", ":space=raw", trial);
}

}  // namespace
}  // namespace assay::testing

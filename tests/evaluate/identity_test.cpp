#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/evaluate/again/explain_again.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

TEST(Identity, DeterministicMethodsScoreExactlyZero) {
  for (const std::string method : {"gradient", "gradient_x_input", "exact_shapley", "occlusion", "deeplift"}) {
    Trial trial = explained_trial(fixture_setting("sklearn_mlp"), method);
    const Scores scores = scored("identity", "", trial);
    for (const double value : scores.values) EXPECT_EQ(value, 0) << method;
    EXPECT_TRUE(scores.undefined.empty());
    EXPECT_GT(scores.evaluations, 0U);
  }
}

TEST(Identity, SampledMethodsDiffer) {
  for (const std::string method : {"shapley_sampling:permutations=2", "smooth_grad:samples=5"}) {
    Setting setting = fixture_setting("torch_cnn_script");
    setting.reference.scales.assign(64, 1.0F);
    Trial trial = explained_trial(std::move(setting), method);
    const Scores scores = scored("identity", "", trial);
    EXPECT_GT(scores.mean, 0) << method;
    for (const double value : scores.values) EXPECT_LE(value, 64);
    const Scores l2 = scored("identity", ":distance=l2", trial);
    EXPECT_GT(l2.mean, 0) << method;
  }
}

// 64 pixels, far fewer coalitions than there are.
TEST(Identity, KernelShapOfAnImageDiffersInAlmostAllPixels) {
  Setting setting = fixture_setting("torch_cnn_script");
  std::ranges::fill(setting.reference.rows.values(), 0.0F);
  Trial trial = explained_trial(std::move(setting), "kernel_shap:samples=200");
  EXPECT_GT(scored("identity", "", trial).mean, 60);
}

// The given explanations count, whatever they are: the gradient of x1 x2 at (3, 5) is (5, 3), and at (2, -4) (-4, 2).
// Given (5, 4): one player differs, l1 distance 1. Given (-4, 2): none. With unit norm, (5, 4) and (5, 3) differ in
// both.
TEST(Identity, ComparesWhatWasGiven) {
  Trial trial = explained_trial(setting_of(product_toy()), "gradient");
  trial.explanations = explanations_of(matrix_of({{5, 4}, {-4, 2}}));
  EXPECT_EQ(scored("identity", "", trial).values, std::vector<double>({1, 0}));
  EXPECT_EQ(scored("identity", ":distance=l1", trial).values, std::vector<double>({1, 0}));
  EXPECT_EQ(scored("identity", ":normalise=unit", trial).values, std::vector<double>({2, 0}));
}

// Another processor rounds otherwise: less than a millionth of the row's largest value is no difference.
TEST(Identity, RoundingIsNoDifference) {
  Trial trial = explained_trial(setting_of(product_toy()), "gradient");
  trial.explanations = explanations_of(matrix_of({{5, 3.000004F}, {-4, 2.00001F}}));
  EXPECT_EQ(scored("identity", "", trial).values, std::vector<double>({0, 1}));
  EXPECT_EQ(scored("identity", ":distance=l1", trial).values[0], 0);
}

TEST(Identity, UndefinedWhereThereAreNoNumbersOrNoDirection) {
  Trial trial = explained_trial(setting_of(product_toy()), "gradient");
  trial.explanations = explanations_of(matrix_of({{std::numeric_limits<float>::quiet_NaN(), 1}, {0, 0}}));
  const Scores scores = scored("identity", ":distance=cosine", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  EXPECT_TRUE(std::isnan(scores.values[1]));
  ASSERT_EQ(scores.undefined.size(), 2U);
  EXPECT_EQ(scores.coverage, 0);
}

// sqrt has no slope at 0.
TEST(Identity, UndefinedWhereTheMethodGivesNoNumber) {
  auto graph = model({node("Sqrt", {"x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Setting setting =
      setting_of(EngineModel::from_onnx("sqrt", std::move(graph)), matrix_of({{0}, {4}}), matrix_of({{1}}));
  Trial trial = explained_trial(std::move(setting), "gradient");
  trial.explanations = explanations_of(matrix_of({{1}, {0.25F}}));
  const Scores scores = scored("identity", "", trial);
  EXPECT_TRUE(std::isnan(scores.values[0]));
  EXPECT_EQ(scores.values[1], 0);
  ASSERT_EQ(scores.undefined.size(), 1U);
  EXPECT_EQ(scores.undefined[0].reason, kAgainNotFinite);
}

TEST(Identity, TheSecondSeedIsNeverTheFirst) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    EXPECT_NE(fresh_seed(seed, 0), 0U);
    EXPECT_NE(fresh_seed(seed, fresh_seed(seed, 3)), fresh_seed(seed, 3));
    EXPECT_NE(fresh_seed(seed, 7), fresh_seed(seed, 8));
  }
}

TEST(Identity, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(fixture_setting("torch_cnn_script"), "shapley_sampling:permutations=2");
  expect_same_scores_on_threads("identity", ":distance=l2", trial);
}

}  // namespace
}  // namespace assay::testing

#include <gtest/gtest.h>

#include <cmath>

#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

constexpr std::string_view kMethod = "deeplift";

void expect_values(const Toy& toy, const std::vector<std::vector<double>>& expected) {
  SCOPED_TRACE(toy.name);
  const Result found = explained(kMethod, setting_of(toy));
  for (size_t r = 0; r < expected.size(); r++) {
    for (size_t c = 0; c < expected[r].size(); c++) {
      EXPECT_NEAR(found.values(r, c), expected[r][c], 1e-6 * std::max(1.0, std::abs(expected[r][c])));
    }
  }
  EXPECT_EQ(found.out.evaluations, toy.rows.size() + 1);
  EXPECT_TRUE(found.out.background_error.empty());
}

TEST(DeepLift, RescaleByHand) {
  // w_j (x_j - r_j)
  expect_values(linear_toy(), {{2, -3, 0}, {-2, 1.5, 0}});
  // Each function of one variable keeps its own difference.
  expect_values(additive_toy(), {{8, 1.718281828459045, 1}});
  // Both factors alike: the Shapley values.
  expect_values(product_toy(), {{7, 6}, {-1, -9}});
  // min(10, 6): x1 - relu(x1 - x2), where relu goes from 0 to 4 as its input does: multiplier 1. x1: 1 - 1 = 0, x2: 1.
  // min(3, 8): relu stays at 0. x1: 1, x2: 0. Everything goes to one input, the smaller one.
  expect_values(min_toy(), {{0, 6}, {3, 0}});
  // relu(x1 + x2 - 1) from 0 to 1 while its input goes from -1 to 1: 1 / 2 for both; at (1, 0) it does not move.
  expect_values(and_toy(), {{0.5, 0.5}, {0, 0}});
  // relu(x1 + x2): 2 / 2; relu(x1 + x2 - 1): 1 / 2, times -2: 0 in all. At (1, 0): 1 / 1, and 0.
  expect_values(xor_toy(), {{0, 0}, {1, 0}, {0, 1}});
  // 1 - relu(1 - x): relu from 1 to 0 while its input goes from 1 to -1.
  expect_values(saturated_toy(), {{1, 0}});
}

TEST(DeepLift, PlayersSumTheirColumns) {
  Setting setting = setting_of(product_toy());
  setting.players = players_of({0, 0}, 1);
  const Result found = explained(kMethod, setting);
  EXPECT_FLOAT_EQ(found.values(0, 0), 13);
  EXPECT_FLOAT_EQ(found.values(1, 0), -10);
}

// DeepSHAP: the mean over the background of what each of its rows gives alone.
TEST(DeepLift, ABackgroundIsAveraged) {
  Setting setting = setting_of(product_toy());
  setting.reference.rows = matrix_of({{1, 2}, {0, 0}, {-1, 3}});
  const Result found = explained(kMethod, setting);
  // (3, 5): (x1 - r1)(x2 + r2) / 2 = 7, 7.5, 16; (x2 - r2)(x1 + r1) / 2 = 6, 7.5, 2.
  EXPECT_FLOAT_EQ(found.values(0, 0), (7 + 7.5F + 16) / 3);
  EXPECT_FLOAT_EQ(found.values(0, 1), (6 + 7.5F + 2) / 3);
  ASSERT_EQ(found.out.background_error.rows(), 2U);
  const double mean = (6 + 7.5 + 2) / 3;
  const double squares = (6 - mean) * (6 - mean) + (7.5 - mean) * (7.5 - mean) + (2 - mean) * (2 - mean);
  EXPECT_NEAR(found.out.background_error(0, 1), std::sqrt(squares / 2 / 3), 1e-6);
  EXPECT_EQ(found.out.evaluations, 2U * 3 + 3);
}

TEST(DeepLift, ManyRowsOfABackgroundComeInBlocks) {
  Setting setting = fixture_setting("torch_mlp_script", "0");
  const size_t rows = 1100;
  Matrix many(rows, setting.rows.cols());
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < many.cols(); c++) {
      many(r, c) = setting.rows(r % setting.rows.rows(), c) + static_cast<float>(r) / static_cast<float>(rows);
    }
  }
  Matrix background(3, many.cols());
  for (size_t k = 0; k < 3; k++) std::copy_n(setting.rows.row(k).data(), many.cols(), background.row(k).data());
  Setting large = setting_of(setting.model, many, background, "0");
  const Result found = explained(kMethod, large, on_threads(2));
  std::vector<Result> alone;
  for (size_t k = 0; k < 3; k++) {
    Matrix one(1, many.cols());
    std::copy_n(background.row(k).data(), many.cols(), one.row(0).data());
    alone.push_back(explained(kMethod, setting_of(setting.model, many, one, "0")));
  }
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < many.cols(); c++) {
      const double mean = (double{alone[0].values(r, c)} + alone[1].values(r, c) + alone[2].values(r, c)) / 3;
      ASSERT_NEAR(found.values(r, c), mean, 1e-6 * (1 + std::abs(mean))) << "row " << r;
    }
  }
  expect_same_bits_everywhere(kMethod, large);
}

// 1 - p of the other class: a target whose term has a negative scale.
TEST(DeepLift, ExplainsTheTargetsTerm) {
  const Setting one = fixture_setting("sklearn_mlp_binary", "1");
  const Setting zero = fixture_setting("sklearn_mlp_binary", "0");
  const Result of_one = explained(kMethod, one);
  const Result of_zero = explained(kMethod, zero);
  for (size_t i = 0; i < of_one.values.values().size(); i++) {
    EXPECT_FLOAT_EQ(of_one.values.values()[i], -of_zero.values.values()[i]);
  }
}

TEST(DeepLift, RefusesWhatHasNoMultipliers) {
  const auto reason = [](const Setting& setting) { return refusal_of(kMethod, setting).value_or("nothing"); };
  const Setting forest = fixture_setting("sklearn_forest");
  EXPECT_EQ(reason(forest), "needs a gradient, and " + forest.model->info().name +
                                " has none: its operator TreeEnsembleClassifier has none");
  Setting information = fixture_setting("torch_mlp_script");
  information.targets = information_targets(*information.model, information.rows.rows());
  EXPECT_EQ(reason(information), "explains an output; the information form is a value of coalition games");
}

TEST(DeepLift, BitsDoNotDependOnThreadsOrPartition) {
  expect_same_bits_everywhere(kMethod, fixture_setting("torch_mlp_script", "predicted"));
  expect_same_bits_everywhere(kMethod, fixture_setting("torch_cnn_script", "predicted"));
}

}  // namespace
}  // namespace assay::testing

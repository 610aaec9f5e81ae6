#include "assay/evaluate/again/perturbed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "assay/core/error.h"
#include "assay/evaluate/again/explain_again.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

TEST(PerturbedRows, UniformNoiseFillsTheBoxAndIsSharedByAllRows) {
  const std::vector<float> units = {1, 10, 0};
  const Perturb noise = make_noise(NoiseShape::uniform, 0.5, units, 4000, 7, "test");
  const std::vector<float> x = {0, 0, 3};
  std::vector<float> y(3);
  std::vector<float> z(3);
  double low = 0;
  double high = 0;
  double sum = 0;
  for (size_t s = 0; s < 4000; s++) {
    noise(s, 0, x, y);
    noise(s, 99, x, z);
    EXPECT_EQ(y, z);
    EXPECT_LE(std::abs(y[0]), 0.5F);
    EXPECT_EQ(y[2], 3);  // a category stays
    low = std::min<double>(low, y[1]);
    high = std::max<double>(high, y[1]);
    sum += y[1];
  }
  EXPECT_GE(low, -5);
  EXPECT_LT(low, -4.95);
  EXPECT_LE(high, 5);
  EXPECT_GT(high, 4.95);
  EXPECT_NEAR(sum / 4000, 0, 0.16);  // 3.5 standard errors of 5 / sqrt(3) / sqrt(4000)
}

TEST(PerturbedRows, NormalNoiseHasTheAskedDeviation) {
  const Perturb noise = make_noise(NoiseShape::normal, 0.5, {2}, 4000, 7, "test");
  const std::vector<float> x = {1};
  std::vector<float> y(1);
  double squares = 0;
  for (size_t s = 0; s < 4000; s++) {
    noise(s, 0, x, y);
    squares += (y[0] - 1.0) * (y[0] - 1.0);
  }
  EXPECT_NEAR(squares / 4000, 1, 0.08);
}

// More than is kept in memory is drawn again for each row: the same numbers.
TEST(PerturbedRows, ManyDrawsAreTheSameDraws) {
  const size_t columns = 3000;
  const std::vector<float> units(columns, 1.0F);
  const Perturb kept = make_noise(NoiseShape::uniform, 1, units, 4, 7, "test");
  const Perturb drawn = make_noise(NoiseShape::uniform, 1, units, 2000, 7, "test");
  const std::vector<float> x(columns, 0.0F);
  std::vector<float> y(columns);
  std::vector<float> z(columns);
  for (size_t s = 0; s < 4; s++) {
    kept(s, 0, x, y);
    drawn(s, 0, x, z);
    EXPECT_EQ(y, z);
  }
}

TEST(PerturbedRows, UnitsAreTheReferencesOrThoseOfThePoolOrOne) {
  Trial trial = explained_trial(setting_of(linear_toy()), "gradient");
  EXPECT_TRUE(refuses_unit(trial.task(), "scaled").has_value());
  EXPECT_EQ(column_units(trial.task(), "raw"), std::vector<float>({1, 1, 1}));
  trial.pool = dataset_of(matrix_of({{0, 5, 1}, {2, 5, 4}}));
  trial.pool->groups[2].kind = ColumnKind::categorical;
  EXPECT_FALSE(refuses_unit(trial.task(), "scaled").has_value());
  // 0 and 2: deviation sqrt 2; all equal: 0; a category: 0
  const std::vector<float> of_pool = column_units(trial.task(), "scaled");
  EXPECT_FLOAT_EQ(of_pool[0], std::sqrt(2.0F));
  EXPECT_EQ(of_pool[1], 0);
  EXPECT_EQ(of_pool[2], 0);
  trial.setting->reference.scales = {3, 4, 5};
  EXPECT_EQ(column_units(trial.task(), "scaled"), std::vector<float>({3, 4, 5}));
}

// Points, attributions (the gradient of x1 x2 is (x2, x1)) and outputs belong together, whatever the threads.
TEST(PerturbedRows, AllDrawsOfAllRowsAreExplained) {
  Trial trial = explained_trial(setting_of(product_toy()), "gradient");
  const Perturb step = [](size_t draw, size_t row, std::span<const float> x, std::span<float> y) {
    y[0] = x[0] + static_cast<float>(draw);
    y[1] = x[1] + static_cast<float>(row);
  };
  std::vector<std::vector<size_t>> draws(2);
  uint64_t evaluations = 0;
  explain_perturbed(
      trial.task(), 5, step, true,
      [&](const PerturbedRow& at) {
        draws[at.row].push_back(at.draw);
        EXPECT_EQ(at.point[0], trial.data->x(at.row, 0) + static_cast<float>(at.draw));
        EXPECT_EQ(at.values[0], at.point[1]);
        EXPECT_EQ(at.values[1], at.point[0]);
        EXPECT_EQ(at.outputs[0], at.point[0] * at.point[1]);
      },
      evaluations, on_threads(2), "test");
  for (const auto& each : draws) EXPECT_EQ(each, std::vector<size_t>({0, 1, 2, 3, 4}));
  EXPECT_EQ(evaluations, 20U);  // ten predicted, ten differentiated
}

// ln x has no value below 0: those rows alone are NaN.
TEST(ExplainAgain, RowsWithoutAValueDoNotSpoilTheOthers) {
  auto graph = model({node("Log", {"x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
  Trial trial = explained_trial(
      setting_of(EngineModel::from_onnx("log", std::move(graph)), matrix_of({{1}, {2}, {4}}), matrix_of({{1}})),
      "gradient");
  const Matrix rows = matrix_of({{2}, {-1}, {4}});
  const std::vector<size_t> row_of = {0, 1, 2};
  uint64_t evaluations = 0;
  const Matrix found = explain_rows_again(trial.task(), {}, rows.view(), row_of, evaluations, {});
  EXPECT_EQ(found(0, 0), 0.5F);
  EXPECT_TRUE(std::isnan(found(1, 0)));
  EXPECT_EQ(found(2, 0), 0.25F);
  const Matrix none = matrix_of({{-2}, {-1}, {-4}});
  const Matrix nothing = explain_rows_again(trial.task(), {}, none.view(), row_of, evaluations, {});
  for (size_t r = 0; r < 3; r++) EXPECT_TRUE(std::isnan(nothing(r, 0)));
}

// What is wrong with all rows is an error still.
TEST(ExplainAgain, OtherErrorsReachTheCaller) {
  Trial trial = explained_trial(setting_of(product_toy()), "gradient");
  const Matrix narrow(1, 1);
  const std::vector<size_t> row_of = {0};
  uint64_t evaluations = 0;
  EXPECT_THROW(explain_rows_again(trial.task(), {}, narrow.view(), row_of, evaluations, {}), Error);
}

TEST(ExplainAgain, SaysWhyTheMethodCannot) {
  Trial trial = explained_trial(setting_of(product_toy()), "occlusion");
  EXPECT_EQ(refuses_again(trial.task()), std::nullopt);
  trial.setting->reference.rows = Matrix(0, 2);
  EXPECT_EQ(refuses_again(trial.task()), "needs the reference of the explanations, to make them again");
  trial.method = parse_spec("method", "gradient");
  EXPECT_EQ(refuses_again(trial.task()), std::nullopt);
  Trial forest = explained_trial(fixture_setting("sklearn_forest"), "occlusion");
  forest.method = parse_spec("method", "gradient");
  const auto reason = refuses_again(forest.task());
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->reason.find("cannot make the explanations again: gradient needs"), std::string::npos)
      << reason->reason;
}

}  // namespace
}  // namespace assay::testing

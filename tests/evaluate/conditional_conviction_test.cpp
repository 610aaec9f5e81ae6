#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/density/surprise.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// The class is "high" where the first column is above 0.
std::shared_ptr<const Model> sign_model() {
  ModelInfo info;
  info.name = "sign";
  info.feature_names = {"x0"};
  info.output_names = {"low", "high"};
  info.class_names = {"low", "high"};
  info.unit = OutputUnit::margin;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) {
      outputs(r, 0) = -rows(r, 0);
      outputs(r, 1) = rows(r, 0);
    }
  });
}

Trial trial_of_rows(const std::vector<std::vector<float>>& rows, const std::vector<std::vector<float>>& values) {
  return trial_of(setting_of(sign_model(), matrix_of(rows), matrix_of({{0}})), matrix_of(values));
}

// Class low has explanations 0, 1 and 3 (worked in conviction's test), class high two that are typical of each other.
TEST(ConditionalConviction, IsConvictionWithinTheClass) {
  Trial trial = trial_of_rows({{-1}, {2}, {-2}, {-3}, {5}}, {{0}, {100}, {1}, {3}, {1}});
  const Scores found = scored("conditional_conviction", "", trial);
  const double expected = (std::log(2.0) + std::log(1.2) + std::log(6.0)) / 3;
  EXPECT_NEAR(found.values[0], expected / std::log(2.0), 1e-12);
  EXPECT_NEAR(found.values[2], expected / std::log(1.2), 1e-12);
  EXPECT_NEAR(found.values[3], expected / std::log(6.0), 1e-12);
  EXPECT_NEAR(found.values[1], 1, 1e-12);
  EXPECT_NEAR(found.values[4], 1, 1e-12);
  EXPECT_EQ(found.evaluations, 5U);
}

TEST(ConditionalConviction, AClassOfOneRowIsUndefined) {
  Trial trial = trial_of_rows({{-1}, {2}, {-2}, {-3}}, {{0}, {100}, {1}, {3}});
  const Scores found = scored("conditional_conviction", "", trial);
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_FALSE(std::isnan(found.values[0]));
  ASSERT_EQ(found.undefined.size(), 1U);
  EXPECT_EQ(found.undefined[0].reason, kTooFewReferences);
}

// The pool's rows of the same class are the reference; rows of a class that the pool lacks are undefined.
TEST(ConditionalConviction, HoldsRowsAgainstThePoolsClass) {
  Trial trial = trial_of_rows({{-4}, {2}, {-5}}, {{1}, {1}, {100}});
  trial.pool = dataset_of(matrix_of({{-1}, {-2}, {5}, {-3}}));
  trial.pool_explanations = PoolExplanations(matrix_of({{0}, {1}, {70}, {3}}));
  const Scores found = scored("conditional_conviction", "", trial);
  const double expected = (std::log(2.0) + std::log(1.2) + std::log(6.0)) / 3;
  EXPECT_NEAR(found.values[0], expected / std::log(4 / 3.5), 1e-12);
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_NEAR(found.values[2], expected / std::log(8.0), 1e-12);
  EXPECT_EQ(found.evaluations, 7U);
}

// The first row is the second of the class in the pool: P = 5/6, not 3.5/4.
TEST(ConditionalConviction, ARowOfThePoolIsNotItsOwnReference) {
  Trial trial = trial_of_rows({{-2}, {-5}}, {{1}, {100}});
  trial.pool = dataset_of(matrix_of({{-1}, {-2}, {5}, {-3}}));
  trial.pool_explanations = PoolExplanations(matrix_of({{0}, {1}, {70}, {3}}));
  const Scores found = scored("conditional_conviction", "", trial);
  const double expected = (std::log(2.0) + std::log(1.2) + std::log(6.0)) / 3;
  EXPECT_NEAR(found.values[0], expected / std::log(1.2), 1e-12);
  EXPECT_NEAR(found.values[1], expected / std::log(8.0), 1e-12);
  EXPECT_EQ(found.notes.at(1).find("1 of the rows are among those"), 0U);
}

// Of 300 pool rows two thirds are low: 30 references are 20 of these and 10 of the others.
TEST(ConditionalConviction, DrawsFromEachClassInProportion) {
  Matrix x(300, 1);
  Matrix values(300, 1);
  RandomStream stream(1, "conditional_conviction test");
  for (size_t r = 0; r < 300; r++) {
    x(r, 0) = static_cast<float>(r + 1) * (r % 3 == 0 ? 1.0F : -1.0F);
    values(r, 0) = static_cast<float>(stream.normal());
  }
  size_t low = 0;
  size_t high = 0;
  const auto make = [&](std::span<const size_t> rows, const Context& /*context*/) {
    Matrix made(rows.size(), 1);
    for (size_t i = 0; i < rows.size(); i++) {
      made(i, 0) = values(rows[i], 0);
      (x(rows[i], 0) < 0 ? low : high)++;
    }
    return made;
  };
  Trial trial = trial_of_rows({{-0.5F}, {0.5F}}, {{0.1F}, {-0.4F}});
  trial.pool = dataset_of(x);
  trial.pool_explanations = PoolExplanations(300, 1, make);
  const Scores found = scored("conditional_conviction", ":references=30", trial);
  EXPECT_EQ(low, 20U);
  EXPECT_EQ(high, 10U);
  EXPECT_EQ(found.coverage, 1);
}

TEST(ConditionalConviction, NeedsClasses) {
  const auto criterion =
      find_criterion("conditional_conviction").make(parse_spec("criterion", "conditional_conviction"));
  Trial regression = trial_of(setting_of(linear_toy()), matrix_of({{1, 2, 3}, {4, 5, 6}}));
  EXPECT_NE(criterion->refuses(regression.task()), std::nullopt);
  Trial no_pool_rows = trial_of_rows({{1}}, {{1}});
  no_pool_rows.pool_explanations = PoolExplanations(matrix_of({{0}}));
  EXPECT_NE(criterion->refuses(no_pool_rows.task()), std::nullopt);
}

TEST(ConditionalConviction, BitsDoNotDependOnThreads) {
  RandomStream stream(2, "conditional_conviction test");
  Matrix x(200, 1);
  Matrix values(200, 3);
  for (float& v : x.values()) v = static_cast<float>(stream.normal());
  for (float& v : values.values()) v = static_cast<float>(stream.normal());
  Trial trial = trial_of(setting_of(sign_model(), x, matrix_of({{0}})), values);
  expect_same_scores_on_threads("conditional_conviction", ":references=50", trial);
}

}  // namespace
}  // namespace assay::testing

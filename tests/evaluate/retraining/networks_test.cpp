// Retraining with real networks: Iris, whose petals tell the species and whose sepals hardly do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "assay/data/datasets.h"
#include "assay/data/encoder.h"
#include "assay/evaluate/retraining/retraining.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

enum Column : size_t { share = 1, ranked = 2, random = 4, unmodified = 6, original = 8 };

// A quarter of the rows as test rows, the others as pool; every row explained by these attributions.
Trial iris_trial(const std::vector<float>& phi) {
  const Table table = load_dataset("iris");
  const Dataset data = Encoder::fit(table, {}).apply(table);
  std::vector<size_t> test;
  std::vector<size_t> training;
  for (size_t i = 0; i < data.rows(); i++) (i % 4 == 0 ? test : training).push_back(i);
  Dataset pool = select_rows(data, training);
  Recipe recipe = table_recipe();
  recipe.mlp.hidden = {8};
  recipe.training.epochs = 60;
  recipe.training.rate = 0.02;
  std::shared_ptr<const Model> model =
      EngineModel::from_onnx("iris", train_recipe(recipe, pool, nullptr, on_threads(1, 3)).model);
  const auto same = [&](size_t rows) {
    Matrix made(rows, phi.size());
    for (size_t i = 0; i < rows; i++) std::ranges::copy(phi, made.row(i).begin());
    return made;
  };
  Matrix mean(1, pool.x.cols());
  for (size_t c = 0; c < pool.x.cols(); c++) {
    for (size_t i = 0; i < pool.rows(); i++) mean(0, c) += pool.x(i, c) / static_cast<float>(pool.rows());
  }
  Trial trial{explanations_of(same(test.size()))};
  trial.data = select_rows(data, test);
  trial.pool_explanations.emplace(same(pool.rows()));
  trial.pool = std::move(pool);
  trial.trainer = [model](const Dataset& rows, uint64_t seed, const Context& context) {
    return model->trainable()->retrain(rows, seed, context);
  };
  trial.setting = setting_of(std::move(model), trial.data->x, std::move(mean));
  return trial;
}

Scores retrained(Replaced replaced, const RetrainingOptions& options, Trial& trial, const Context& context,
                 bool concurrent) {
  const EvaluateTask task = trial.task();
  EXPECT_EQ(retraining_refusal(task), std::nullopt);
  Scores scores;
  score_by_retraining("roar", replaced, options, concurrent, task, scores, context);
  summarise(scores, {.draws = 100}, context);
  return scores;
}

// Orders of the players: petal width, petal length, sepal length, sepal width; and sepal length, sepal width, petal
// length, petal width.
const std::vector<float> petals_first = {1, 0.5F, 3, 4};
const std::vector<float> sepals_first = {4, 3, 1, 0.5F};

// Three of four players go: sepal width is left, or petal width, or one at random.
TEST(RetrainingNetworks, TheRightRankingLosesMoreThanARandomOneAndThatMoreThanTheInvertedOne) {
  const RetrainingOptions most{.k = {0.75}, .seeds = 4};
  Trial right = iris_trial(petals_first);
  Trial inverted = iris_trial(sepals_first);
  const Scores good = retrained(Replaced::first, most, right, on_threads(2, 1), true);
  const Scores bad = retrained(Replaced::first, most, inverted, on_threads(2, 1), true);
  const std::vector<double>& row = good.tables.at(0).rows.at(0);
  EXPECT_GE(row[original], 0.9);
  EXPECT_GE(row[unmodified], 0.9);
  EXPECT_LT(row[ranked], row[random] - 0.05);
  EXPECT_GT(bad.tables.at(0).rows.at(0)[ranked], row[random] + 0.1);
  EXPECT_EQ(row[random], bad.tables.at(0).rows.at(0)[random]);  // controls do not depend on the ranking
  EXPECT_EQ(row[unmodified], bad.tables.at(0).rows.at(0)[unmodified]);
  EXPECT_GT(good.mean, bad.mean + 0.2);
  EXPECT_LT(std::abs(bad.mean), 0.08);  // three of 38 rows
}

TEST(RetrainingNetworks, KeepingTheRightPlayerLosesLess) {
  const RetrainingOptions one{.k = {0.25}, .seeds = 4};
  Trial right = iris_trial(petals_first);
  Trial inverted = iris_trial(sepals_first);
  const Scores good = retrained(Replaced::all_but_first, one, right, on_threads(2, 1), true);
  const Scores bad = retrained(Replaced::all_but_first, one, inverted, on_threads(2, 1), true);
  EXPECT_LT(std::abs(good.mean), 0.08);
  EXPECT_GT(bad.mean, good.mean + 0.1);
  const std::vector<double>& row = good.tables.at(0).rows.at(0);
  EXPECT_GT(row[ranked], row[random] + 0.1);
  // To keep petal width alone is to remove the other three.
  EXPECT_EQ(good.values,
            retrained(Replaced::first, {.k = {0.75}, .seeds = 4}, inverted, on_threads(2, 1), true).values);
}

// No feature is left: the best that is left is one class for all rows, a third of them.
TEST(RetrainingNetworks, RemovingAllLeavesChanceAndKeepingAllTheUnmodifiedModel) {
  const RetrainingOptions all{.k = {1}, .seeds = 2};
  Trial trial = iris_trial(petals_first);
  const std::vector<double> removed =
      retrained(Replaced::first, all, trial, on_threads(2), true).tables.at(0).rows.at(0);
  EXPECT_NEAR(removed[ranked], 1.0 / 3, 0.02);
  EXPECT_EQ(removed[random], removed[ranked]);
  const std::vector<double> kept =
      retrained(Replaced::all_but_first, all, trial, on_threads(2), true).tables[0].rows[0];
  EXPECT_EQ(kept[ranked], kept[unmodified]);
  EXPECT_EQ(kept[random], kept[unmodified]);
}

TEST(RetrainingNetworks, BitsDoNotDependOnThreadsNorOnWhatRunsSideBySide) {
  Trial trial = iris_trial({1, 4, 2, 3});
  const RetrainingOptions options{.k = {0.3, 0.6}, .seeds = 3};
  const Scores one = retrained(Replaced::first, options, trial, on_threads(1, 5), false);
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const bool concurrent : {false, true}) {
      const Scores other = retrained(Replaced::first, options, trial, on_threads(threads, 5), concurrent);
      EXPECT_EQ(std::memcmp(one.values.data(), other.values.data(), 3 * sizeof(double)), 0) << threads << concurrent;
      EXPECT_EQ(one.tables.at(0).rows, other.tables.at(0).rows) << threads << concurrent;
    }
  }
  const Scores another = retrained(Replaced::first, options, trial, on_threads(1, 6), false);
  EXPECT_NE(one.tables.at(0).rows, another.tables.at(0).rows);
}

}  // namespace
}  // namespace assay::testing

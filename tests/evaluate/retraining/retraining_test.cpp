#include "assay/evaluate/retraining/retraining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>

#include "assay/core/random.h"
#include "tests/evaluate/retraining/lookup.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Scores retrained(Replaced replaced, const RetrainingOptions& options, Trial& trial, const Context& context = {},
                 bool concurrent = false) {
  const EvaluateTask task = trial.task();
  EXPECT_EQ(retraining_refusal(task), std::nullopt);
  Scores scores;
  scores.values.assign(task.rows(), NAN);
  score_by_retraining("roar", replaced, options, concurrent, task, scores, context);
  summarise(scores, {.draws = 100}, context);
  return scores;
}

std::vector<float> row_of(const Matrix& rows, size_t i) { return as_key(rows.row(i)); }

// 0.1 * 4 and 0.05 * 4 round to 0 and become 1; 0.63 * 4 = 2.52 is 3; 0.5 * 4 = 2; 1 is all 4.
TEST(Retraining, SharesBecomeCountsOnceEach) {
  const std::vector<double> shares = {1, 0.1, 0.63, 0.5, 0.05};
  EXPECT_THAT(counts_of_shares(shares, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(counts_of_shares(shares, 1), ElementsAre(1));
  const std::vector<double> nothing = {0};
  EXPECT_THAT(counts_of_shares(nothing, 10), ElementsAre(1));
}

// 0.9 * 4 = 3.6 rounds to all 4, which would say nothing of the ranking; so would 0.75 * 2 = 1.5. A share of 1 means
// it.
TEST(Retraining, OnlyAShareOfOneIsAllPlayers) {
  const std::vector<double> most = {0.9};
  EXPECT_THAT(counts_of_shares(most, 4), ElementsAre(3));
  EXPECT_THAT(counts_of_shares(most, 10), ElementsAre(9));
  EXPECT_THAT(counts_of_shares(most, 1), ElementsAre(1));
  const std::vector<double> both = {0.75, 1};
  EXPECT_THAT(counts_of_shares(both, 2), ElementsAre(1, 2));
}

TEST(Retraining, ABackgroundIsReplacedByItsMean) {
  const FeatureGroup number{"n", 0, 1};
  EXPECT_THAT(replacement_row(matrix_of({{1, 4}, {2, 8}, {6, 0}}).view(), {number, {"m", 1, 1}}), ElementsAre(3, 4));
  // No row has the mean of the codes 0, 2 and 2, nor a third of each level.
  const FeatureGroup code{"c", 1, 1, ColumnKind::categorical, {"u", "v", "w"}};
  EXPECT_THAT(replacement_row(matrix_of({{1, 0}, {NAN, 2}, {5, 2}}).view(), {number, code}), ElementsAre(3, 2));
  const FeatureGroup hot{"h", 1, 2, ColumnKind::categorical, {"u", "v"}};
  EXPECT_THAT(replacement_row(matrix_of({{1, 1, 0}, {2, 0, 1}, {6, 0, 1}}).view(), {number, hot}),
              ElementsAre(3, 0, 1));
  Trial trial = corner_trial({3, 1});
  trial.setting->reference.rows = matrix_of({{4, 2}, {8, 2}});
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  const Scores scores = retrained(Replaced::first, {.k = {0.5}, .seeds = 1, .control = false}, trial);
  ASSERT_THAT(trained, SizeIs(1));
  EXPECT_THAT(row_of(trained[0].rows.x, 3), ElementsAre(6, 1));
  EXPECT_THAT(scores.notes, ::testing::Contains(HasSubstr("background's mean")));
}

// What the trainer is handed: the model's classes and the pool's names, the replaced columns and nothing else changed.
TEST(Retraining, TrainsOnThePoolWithPlayersReplaced) {
  Trial trial = lookup_trial(dataset_of(matrix_of({{1, 2, 3}}), {0}, {"a", "b"}),
                             dataset_of(matrix_of({{1, 2, 3}, {4, 5, 6}}), {0, 1}, {"a", "b"}), {{1, 2}},
                             {{5, -6}, {0.5F, 0.25F}});
  trial.setting->players = players_of({0, 1, 0}, 2);  // columns 0 and 2 are one player
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  retrained(Replaced::first, {.k = {0.5}, .seeds = 1, .control = false}, trial);
  retrained(Replaced::all_but_first, {.k = {0.5}, .seeds = 1, .control = false}, trial);
  ASSERT_THAT(trained, SizeIs(2));
  EXPECT_THAT(row_of(trained[0].rows.x, 0), ElementsAre(1, 9, 3));
  EXPECT_THAT(row_of(trained[0].rows.x, 1), ElementsAre(9, 5, 9));
  EXPECT_THAT(row_of(trained[1].rows.x, 0), ElementsAre(9, 2, 9));
  EXPECT_THAT(row_of(trained[1].rows.x, 1), ElementsAre(4, 9, 6));
  EXPECT_EQ(trained[0].rows.class_names, trial.pool->class_names);
  EXPECT_EQ(trained[0].rows.feature_names, trial.pool->feature_names);
  EXPECT_EQ(trained[0].rows.labels, trial.pool->labels);
  EXPECT_EQ(trained[0].seed, trained[1].seed);  // criteria share their seeds
}

// Each row goes by a random order of its own, the same for both k, another one for another seed.
TEST(Retraining, RandomRankingsAreFreshForEachRowAndSeedAndNestedInK) {
  constexpr size_t kRows = 400;
  Matrix x(kRows, 4);
  std::vector<float> labels(kRows);
  for (size_t i = 0; i < kRows; i++) labels[i] = static_cast<float>(i % 2);
  Trial trial = lookup_trial(dataset_of(x, labels, {"a", "b"}), dataset_of(x, labels, {"a", "b"}),
                             repeated({4, 3, 2, 1}, kRows), repeated({4, 3, 2, 1}, kRows));
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  retrained(Replaced::first, {.k = {0.25, 0.5}, .seeds = 2}, trial, on_threads(1, 7));
  // For each seed: unmodified, then ranked and random for each k.
  ASSERT_THAT(trained, SizeIs(10));
  for (size_t i = 1; i < 5; i++) {
    EXPECT_EQ(trained[i].seed, trained[0].seed);
    EXPECT_EQ(trained[5 + i].seed, trained[5].seed);
  }
  EXPECT_NE(trained[0].seed, trained[5].seed);
  EXPECT_THAT(row_of(trained[0].rows.x, 17), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(row_of(trained[1].rows.x, 17), ElementsAre(9, 0, 0, 0));
  EXPECT_THAT(row_of(trained[3].rows.x, 17), ElementsAre(9, 9, 0, 0));
  std::vector<double> taken(4);
  size_t same_as_other_seed = 0;
  for (size_t i = 0; i < kRows; i++) {
    const std::vector<float> one = row_of(trained[2].rows.x, i);
    const std::vector<float> two = row_of(trained[4].rows.x, i);
    EXPECT_EQ(std::ranges::count(one, 9.0F), 1);
    EXPECT_EQ(std::ranges::count(two, 9.0F), 2);
    for (size_t c = 0; c < 4; c++) {
      EXPECT_LE(one[c], two[c]);
      taken[c] += one[c] == 9 ? 1 : 0;
    }
    same_as_other_seed += one == row_of(trained[7].rows.x, i) ? 1 : 0;
  }
  // 400 draws with probability 1/4: 100, standard deviation 8.7. All four within five of them.
  EXPECT_THAT(taken, Each(::testing::DoubleNear(100, 43)));
  EXPECT_NEAR(static_cast<double>(same_as_other_seed), 100, 43);

  // A row's order is its own, whichever other rows take part.
  std::vector<Training> fewer;
  trial.trainer = lookup_trainer(&fewer);
  trial.pool->labels[0] = kNan;
  retrained(Replaced::first, {.k = {0.25, 0.5}, .seeds = 1}, trial, on_threads(1, 7));
  ASSERT_EQ(fewer.at(4).rows.rows(), kRows - 1);
  for (size_t i = 1; i < kRows; i++) EXPECT_EQ(row_of(fewer[4].rows.x, i - 1), row_of(trained[4].rows.x, i));
}

// Every number of the table, from the models that were trained, counted here by other code. Labels are noisy and the
// test rows are others than the pool's, so that no two numbers agree by chance alone.
TEST(Retraining, TheTableIsWhatADirectComputationGives) {
  constexpr size_t kRows = 60;
  const auto made = [](uint64_t salt) {
    Matrix x(kRows, 3);
    std::vector<float> labels;
    RandomStream random(salt, "retraining test");
    for (size_t i = 0; i < kRows; i++) {
      for (float& v : x.row(i)) v = static_cast<float>(random.below(2));
      labels.push_back(random.below(5) == 0 ? static_cast<float>(random.below(2)) : x(i, 0));
    }
    return dataset_of(std::move(x), labels, {"a", "b"});
  };
  Trial trial = lookup_trial(made(1), made(2), repeated({1, 3, 2}, kRows), repeated({1, 3, 2}, kRows));
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  constexpr size_t kSeeds = 3;
  const Scores scores =
      retrained(Replaced::all_but_first, {.k = {0.3, 0.7}, .seeds = kSeeds}, trial, on_threads(1, 11));
  ASSERT_THAT(trained, SizeIs(kSeeds * 5));

  const auto accuracy = [&](const Model& model, const auto& change) {
    size_t right = 0;
    for (size_t i = 0; i < kRows; i++) {
      Matrix row(1, 3);
      std::ranges::copy(trial.data->x.row(i), row.row(0).begin());
      change(i, row.row(0));
      Matrix outputs(1, 2);
      model.predict(row.view(), outputs.view(), {});
      right += (outputs(0, 1) > outputs(0, 0) ? 1.0F : 0.0F) == trial.data->labels[i] ? 1 : 0;
    }
    return static_cast<double>(right) / kRows;
  };
  const auto nothing = [](size_t, std::span<float>) {};
  const double original = accuracy(*trial.setting->model, nothing);
  const std::vector<std::vector<size_t>> kept = {{1}, {1, 2}};  // by |phi| = 1, 3, 2
  ASSERT_THAT(scores.tables, SizeIs(1));
  const ScoreTable& table = scores.tables[0];
  EXPECT_THAT(table.columns,
              ElementsAre("k", "share", "accuracy", "accuracy_stderr", "random_accuracy", "random_accuracy_stderr",
                          "unmodified_accuracy", "unmodified_accuracy_stderr", "original_accuracy"));
  std::vector<double> drops(kSeeds);
  for (size_t j = 0; j < 2; j++) {
    std::vector<double> ranked;
    std::vector<double> random;
    for (size_t s = 0; s < kSeeds; s++) {
      ranked.push_back(accuracy(*lookup_model(trained[5 * s + 1 + 2 * j].rows), [&](size_t, std::span<float> row) {
        for (size_t c = 0; c < 3; c++) row[c] = std::ranges::count(kept[j], c) > 0 ? row[c] : 9;
      }));
      random.push_back(accuracy(*lookup_model(trained[5 * s + 2 + 2 * j].rows), [&](size_t i, std::span<float> row) {
        std::vector<uint32_t> order(3);
        RandomStream(11, "retraining, random order in the rows", i, static_cast<uint32_t>(s)).permutation(order);
        for (size_t rank = j + 1; rank < 3; rank++) row[order[rank]] = 9;
      }));
      drops[s] += (original - ranked[s]) / 2;
    }
    const double unmodified = accuracy(*lookup_model(*trial.pool), nothing);
    const auto mean = [](const std::vector<double>& v) { return (v[0] + v[1] + v[2]) / 3; };
    const auto error = [&](const std::vector<double>& v) {
      double squares = 0;
      for (const double each : v) squares += (each - mean(v)) * (each - mean(v));
      return std::sqrt(squares / 2 / 3);
    };
    const std::vector<double> expected = {static_cast<double>(j + 1),
                                          static_cast<double>(j + 1) / 3,
                                          mean(ranked),
                                          error(ranked),
                                          mean(random),
                                          error(random),
                                          unmodified,
                                          0,
                                          original};
    EXPECT_THAT(table.rows[j], ::testing::Pointwise(::testing::DoubleNear(1e-12), expected)) << "k = " << j + 1;
    EXPECT_GT(error(random), 0);
    EXPECT_GT(original - mean(ranked), 0.1);
  }
  EXPECT_THAT(scores.values, ::testing::Pointwise(::testing::DoubleNear(1e-12), drops));
  EXPECT_EQ(scores.evaluations, kRows * (1 + trained.size()));
}

// Labels 0, 0, 2, 2 have mean 1 and squared deviations 4 in all. Without the first feature every row is predicted 1:
// squared errors 4, R^2 = 0. The original model is exact: the drop is 1.
TEST(Retraining, ARegressionLosesRSquared) {
  const auto corners = [] { return dataset_of(matrix_of({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), {0, 0, 2, 2}); };
  Trial trial = lookup_trial(corners(), corners(), repeated({3, 1}, 4), repeated({3, 1}, 4));
  const Scores removed = retrained(Replaced::first, {.k = {0.5}, .seeds = 2}, trial);
  EXPECT_THAT(removed.values, ElementsAre(1, 1));
  EXPECT_EQ(removed.tables.at(0).columns.at(2), "r2");
  EXPECT_EQ(removed.tables.at(0).rows.at(0).back(), 1);
  EXPECT_THAT(removed.notes, ::testing::Contains(HasSubstr("R^2")));
  const Scores kept = retrained(Replaced::all_but_first, {.k = {0.5}, .seeds = 2}, trial);
  EXPECT_THAT(kept.values, ElementsAre(0, 0));
  // Labels 1, 1, 1, 3 of the rows, predicted 0, 0, 2, 2 by the original model: squared errors 4 over deviations
  // 3 * 1/4 + 9/4 = 3. Predicted 1 each without the first feature: 4 over 3 as well.
  trial.data->labels = {1, 1, 1, 3};
  const Scores other = retrained(Replaced::first, {.k = {0.5}, .seeds = 1}, trial);
  EXPECT_DOUBLE_EQ(other.tables.at(0).rows.at(0).back(), 1 - 4.0 / 3);
  EXPECT_DOUBLE_EQ(other.values.at(0), 0);
}

TEST(Retraining, LabelsThatDoNotVaryHaveNoRSquared) {
  const auto corners = [] { return dataset_of(matrix_of({{0, 0}, {1, 1}}), {2, 2}); };
  Trial trial = lookup_trial(corners(), corners(), repeated({3, 1}, 2), repeated({3, 1}, 2));
  trial.trainer = [](const Dataset&, uint64_t, const Context&) -> std::unique_ptr<Model> {
    ADD_FAILURE() << "trains although nothing can come of it";
    return nullptr;
  };
  const Scores scores = retrained(Replaced::first, {}, trial);
  EXPECT_THAT(scores.values, Each(::testing::IsNan()));
  ASSERT_THAT(scores.undefined, SizeIs(1));
  EXPECT_EQ(scores.undefined[0].rows, 5U);
  EXPECT_THAT(scores.undefined[0].reason, HasSubstr("same label"));
  EXPECT_EQ(scores.coverage, 0);
}

// Of five test rows one has no label and one no ranking; the other three are (0, 0) a, (0, 1) a and (1, 1) b. Without
// the deciding feature the pool's rows (9, 0) and (9, 1) tie, all are called "a": 2 of 3 are. Pool rows that say the
// opposite have no label or no ranking, or the original model would be wrong.
TEST(Retraining, RowsWithoutLabelOrRankingTakeNoPart) {
  Trial trial = corner_trial({3, 1});
  trial.data = dataset_of(matrix_of({{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}}), {0, kNan, 0, 1, 1}, {"a", "b"});
  trial.explanations = explanations_of(matrix_of({{3, 1}, {3, 1}, {3, 1}, {3, kNan}, {3, 1}}));
  trial.pool = dataset_of(matrix_of({{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, {1, 1}}),
                          {0, 0, 1, 1, kNan, 1, 1, kNan}, {"a", "b"});
  std::vector<std::vector<float>> pool_phi = repeated({3, 1}, 8);
  pool_phi[5] = {kNan, 1};
  pool_phi[6] = {1, std::numeric_limits<float>::infinity()};
  trial.pool_explanations.emplace(matrix_of(pool_phi));
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  const Scores scores = retrained(Replaced::first, {.k = {0.5}, .seeds = 1}, trial);
  ASSERT_THAT(trained, SizeIs(3));
  EXPECT_THAT(trained[0].rows.labels, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(scores.tables.at(0).rows.at(0).back(), 1);
  ASSERT_THAT(scores.values, SizeIs(1));
  EXPECT_DOUBLE_EQ(scores.values[0], 1 - 2.0 / 3);
  EXPECT_THAT(scores.notes, ::testing::IsSupersetOf({"1 of 5 rows have no label and take no part",
                                                     "1 of 5 rows have attributions that are not all numbers and take "
                                                     "no part",
                                                     "2 of 8 rows of the pool have no label and take no part",
                                                     "2 of 8 rows of the pool have attributions that are not all "
                                                     "numbers and take no part"}));
}

TEST(Retraining, WithoutAnyRowLeftItIsUndefined) {
  Trial trial = corner_trial({3, 1});
  trial.data->labels.assign(4, kNan);
  const Scores scores = retrained(Replaced::first, {.seeds = 2}, trial);
  EXPECT_THAT(scores.values, SizeIs(2));
  EXPECT_THAT(scores.values, Each(::testing::IsNan()));
  EXPECT_EQ(scores.undefined.at(0).reason, "no row has both a label and attributions that are numbers");
  Trial poor = corner_trial({3, 1});
  poor.pool_explanations.emplace(matrix_of(repeated({kNan, 1}, 4)));
  EXPECT_THAT(retrained(Replaced::first, {.seeds = 2}, poor).undefined.at(0).reason, HasSubstr("no row of the pool"));
}

// Only labelled rows of the pool are explained.
TEST(Retraining, ExplainsNoMoreOfThePoolThanItNeeds) {
  Trial trial = corner_trial({3, 1});
  trial.pool->labels[2] = kNan;
  std::vector<size_t> asked;
  trial.pool_explanations.emplace(4, 2, [&](std::span<const size_t> rows, const Context&) {
    asked.assign(rows.begin(), rows.end());
    return matrix_of(repeated({3, 1}, rows.size()));
  });
  retrained(Replaced::first, {.k = {0.5}, .seeds = 1}, trial);
  EXPECT_THAT(asked, ElementsAre(0, 1, 3));
}

// The rows name their classes in another order than pool and model do, and one class more that no row has.
TEST(Retraining, ClassesAreMatchedByName) {
  Trial trial = corner_trial({3, 1});
  trial.data->class_names = {"b", "c", "a"};
  trial.data->labels = {2, 2, 0, 0};
  EXPECT_THAT(retrained(Replaced::first, {.k = {0.5}, .seeds = 1}, trial).values, ElementsAre(0.5));
  trial.pool->class_names = {"b", "a"};
  trial.pool->labels = {1, 1, 0, 0};
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  EXPECT_THAT(retrained(Replaced::first, {.k = {0.5}, .seeds = 1}, trial).values, ElementsAre(0.5));
  EXPECT_THAT(trained.at(0).rows.class_names, ElementsAre("a", "b"));
  EXPECT_THAT(trained.at(0).rows.labels, ElementsAre(0, 0, 1, 1));
  trial.data->labels[1] = 1;
  EXPECT_EQ(sentence([&] { retrained(Replaced::first, {}, trial); }),
            "test rows, row 2, label y: expected a class of lookup (a or b), found 'c'");
}

TEST(Retraining, RefusesLabelsOfAnotherKind) {
  Trial values = corner_trial({3, 1});
  values.data->class_names.clear();
  EXPECT_EQ(retraining_refusal(values.task()),
            "needs classes as labels of the rows, as lookup predicts them, and those of test rows are values");
  Trial unlabelled = corner_trial({3, 1});
  unlabelled.pool->labels.clear();
  EXPECT_EQ(retraining_refusal(unlabelled.task()), "needs labels of the pool's rows, and test rows has none");
  Trial classes = corner_trial({3, 1});
  classes.setting->model = model_from_function(lookup_info(2, {}), [](MatrixView<const float>, MatrixView<float>) {});
  EXPECT_EQ(retraining_refusal(classes.task()),
            "needs values as labels of the rows, as lookup predicts them, and those of test rows are classes");
  Trial several = corner_trial({3, 1});
  ModelInfo info = lookup_info(2, {});
  info.output_names = {"y", "z"};
  several.setting->model = model_from_function(info, [](MatrixView<const float>, MatrixView<float>) {});
  EXPECT_EQ(retraining_refusal(several.task()), "needs a model of classes or of one value, and lookup gives 2 values");
}

// A trainer comes from outside: what it gives back is checked, and what it says is passed on with its place.
TEST(Retraining, WhatATrainerGivesBackIsChecked) {
  Trial trial = corner_trial({3, 1});
  const auto message = [&](const Trainer& trainer) {
    trial.trainer = trainer;
    return sentence([&] { retrained(Replaced::first, {.k = {0.5}, .seeds = 1, .control = false}, trial); });
  };
  EXPECT_THAT(message([](const Dataset&, uint64_t, const Context&) { return std::unique_ptr<Model>(); }),
              HasSubstr("no model came back"));
  const auto other = [](size_t features, const std::vector<std::string>& classes) -> Trainer {
    return [=](const Dataset&, uint64_t, const Context&) {
      return model_from_function(lookup_info(features, classes), [](MatrixView<const float>, MatrixView<float>) {});
    };
  };
  EXPECT_THAT(message(other(3, {"a", "b"})), HasSubstr("expected a model of 2 features, found one of 3"));
  EXPECT_THAT(message(other(2, {"b", "a"})), HasSubstr("expected a model of the classes a and b, found b and a"));
  EXPECT_THAT(message(other(2, {})), HasSubstr("found one of values"));
  EXPECT_THAT(message([](const Dataset&, uint64_t, const Context&) -> std::unique_ptr<Model> {
                fail_input("the loss is infinite");
              }),
              ::testing::MatchesRegex("roar, the model trained on changed rows with k = 1 from seed [0-9]+: the loss "
                                      "is infinite"));
}

TEST(Retraining, PredictionsThatAreNoNumbersAreUndefined) {
  Trial trial = corner_trial({3, 1});
  trial.trainer = [](const Dataset& rows, uint64_t, const Context&) {
    return model_from_function(lookup_info(2, rows.class_names), [](MatrixView<const float>, MatrixView<float> out) {
      for (size_t i = 0; i < out.rows(); i++) out(i, 1) = kNan;
    });
  };
  const Scores scores = retrained(Replaced::first, {.k = {0.5}, .seeds = 3}, trial);
  EXPECT_THAT(scores.values, Each(::testing::IsNan()));
  EXPECT_EQ(scores.undefined.at(0).reason, "predictions are not all numbers");
  EXPECT_EQ(scores.undefined.at(0).rows, 3U);
}

// Cancelled in the second training of many: no third one begins when they run one after another.
TEST(Retraining, StopsWhenCancelled) {
  for (const bool concurrent : {false, true}) {
    Trial trial = corner_trial({3, 1});
    std::atomic<bool> stop = false;
    std::atomic<size_t> calls = 0;
    trial.trainer = [&](const Dataset& rows, uint64_t, const Context& context) {
      if (++calls == 2) stop = true;
      context.check_cancelled();
      return lookup_model(rows);
    };
    Context context = on_threads(2);
    context.cancelled = &stop;
    try {
      retrained(Replaced::first, {.seeds = 100}, trial, context, concurrent);
      ADD_FAILURE() << "went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cancelled);
      EXPECT_STREQ(error.what(), "interrupted");
    }
    EXPECT_LE(calls, concurrent ? 4U : 2U);
  }
}

class CountingProgress final : public Progress {
 public:
  void begin(std::string_view task, uint64_t total) noexcept override {
    EXPECT_EQ(task, "roar: training");
    total_ += total;
  }
  void advance(uint64_t amount) noexcept override { done_ += amount; }
  void end() noexcept override { ends_++; }

  uint64_t total_ = 0;
  uint64_t done_ = 0;
  int ends_ = 0;
};

// 3 seeds x (2 k x 2 rankings + 1); without controls 3 x 2. What a training itself reports is not shown.
TEST(Retraining, ReportsTrainings) {
  Trial trial = corner_trial({3, 1});
  trial.trainer = [](const Dataset& rows, uint64_t, const Context& context) {
    const ProgressScope own(context, "own", 1);
    return lookup_model(rows);
  };
  for (const bool control : {true, false}) {
    CountingProgress progress;
    Context context = on_threads(2);
    context.progress = &progress;
    retrained(Replaced::first, {.k = {0.5, 1}, .seeds = 3, .control = control}, trial, context, true);
    EXPECT_EQ(progress.total_, control ? 15U : 6U);
    EXPECT_EQ(progress.done_, progress.total_);
    EXPECT_EQ(progress.ends_, 1);
  }
}

TEST(Retraining, WithoutControlsTheValuesAreTheSame) {
  Trial trial = corner_trial({3, 1});
  const Scores with = retrained(Replaced::first, {}, trial);
  const Scores without = retrained(Replaced::first, {.control = false}, trial);
  EXPECT_EQ(with.values, without.values);
  EXPECT_THAT(without.tables.at(0).columns,
              ElementsAre("k", "share", "accuracy", "accuracy_stderr", "original_accuracy"));
  EXPECT_THAT(without.tables.at(0).rows, Each(SizeIs(5)));
}

}  // namespace
}  // namespace assay::testing

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/evaluate/retraining/lookup.h"

namespace assay::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// The first feature decides. Without it the rows (9, 0), (9, 0), (9, 1), (9, 1) ask for a and b each: a tie, so all are
// called "a", and half of them are. 1 - 1/2.
TEST(Roar, LosesAccuracyWhenTheDecidingFeatureGoesFirst) {
  Trial trial = corner_trial({-3, 1});  // |phi| counts
  const Scores scores = scored("roar", ":k=0.5:seeds=3", trial);
  EXPECT_THAT(scores.values, ElementsAre(0.5, 0.5, 0.5));
  EXPECT_FALSE(scores.of_rows);
  EXPECT_EQ(scores.mean, 0.5);
  EXPECT_EQ(scores.mean_error, 0);
  EXPECT_EQ(scores.coverage, 1);
}

// The second feature says nothing: rows (0, 9) are all "a", rows (1, 9) all "b".
TEST(Roar, LosesNothingWhenAFeatureThatSaysNothingGoesFirst) {
  Trial trial = corner_trial({1, 3});
  EXPECT_THAT(scored("roar", ":k=0.5:seeds=2", trial).values, ElementsAre(0, 0));
}

// k = 1 loses nothing, k = 2 makes all rows (9, 9) and loses a half: the mean is a quarter. 0.4 and 0.6 of two players
// are both one player, which counts once.
TEST(Roar, IsTheMeanOverTheGrid) {
  Trial trial = corner_trial({1, 3});
  const Scores scores = scored("roar", ":k=[1,0.4,0.6]:seeds=1", trial);
  EXPECT_THAT(scores.values, ElementsAre(0.25));
  EXPECT_TRUE(std::isnan(scores.mean_error));
  ASSERT_EQ(scores.tables.size(), 1U);
  ASSERT_EQ(scores.tables[0].rows.size(), 2U);
  EXPECT_EQ(scores.tables[0].rows[0][0], 1);
  EXPECT_EQ(scores.tables[0].rows[0][1], 0.5);
  EXPECT_EQ(scores.tables[0].rows[1][0], 2);
  EXPECT_EQ(scores.tables[0].rows[1][1], 1);
}

// The test rows lose players, too: a model that learned (9, 0) and (9, 1) has never seen (1, 0) and would call it "a"
// by default; the rows (0, .) would be right all the same. Here phi points at the second feature in the pool and at the
// first in the rows: rows (9, 0) and (9, 1) meet a model that knows (0, 9) and (1, 9), and are "a" as never seen.
TEST(Roar, EachRowGoesByItsOwnAttributions) {
  Trial trial = corner_trial({1, 3});
  trial.explanations.values = matrix_of({{3, 1}, {1, 3}, {1, 3}, {3, 1}});
  // (9, 0) a: right; (0, 9) a: right; (1, 9) b: right; (9, 1) b: wrong.
  EXPECT_THAT(scored("roar", ":k=0.5:seeds=1", trial).values, ElementsAre(0.25));
}

TEST(Roar, OfAConstantModelIsZero) {
  Trial trial = corner_trial({1, 1});
  trial.trainer = [](const Dataset& rows, uint64_t, const Context&) {
    Dataset one = rows;
    std::ranges::fill(one.labels, 0.0F);
    return lookup_model(one);
  };
  trial.pool->labels = {0, 0, 0, 0};
  trial.setting->model = lookup_model(*trial.pool);
  EXPECT_THAT(scored("roar", "", trial).values, Each(0.0));
}

// The drop is from the original model, not from a retrained one: a model that calls all rows "a" is right for half of
// them, and the models that see the first feature for all. 1/2 - 1.
TEST(Roar, IsNegativeWhenTheRetrainedModelsAreBetter) {
  Trial trial = corner_trial({1, 3});
  Dataset wrong = *trial.pool;
  wrong.labels = {0, 0, 0, 0};
  trial.setting->model = lookup_model(wrong);
  EXPECT_THAT(scored("roar", ":k=0.5:seeds=2", trial).values, ElementsAre(-0.5, -0.5));
}

TEST(Roar, SaysWhatItIs) {
  const CriterionInfo& info = find_criterion("roar");
  EXPECT_EQ(info.direction, Direction::higher);
  EXPECT_TRUE(info.needs.trainer && info.needs.labels && info.needs.pool && info.needs.pool_explanations);
  EXPECT_TRUE(info.needs.model && info.needs.reference);
  ASSERT_EQ(info.options.size(), 3U);
  EXPECT_EQ(info.options[0].value, "[0.1,0.3,0.5,0.7,0.9]");
}

TEST(Roar, BitsDoNotDependOnThreads) {
  Trial trial = corner_trial({1, 3});
  expect_same_scores_on_threads("roar", ":k=[0.5,1]:seeds=4", trial);
}

}  // namespace
}  // namespace assay::testing

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/evaluate/retraining/lookup.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

// The first feature decides, and is kept: rows (0, 9) are all "a", rows (1, 9) all "b".
TEST(Kar, LosesNothingWhenTheDecidingFeatureIsKept) {
  Trial trial = corner_trial({-3, 1});
  const Scores scores = scored("kar", ":k=0.5:seeds=3", trial);
  EXPECT_THAT(scores.values, ElementsAre(0, 0, 0));
  EXPECT_FALSE(scores.of_rows);
  EXPECT_EQ(scores.mean_error, 0);
}

// Only the second feature is left: (9, 0) and (9, 1) are "a" as often as "b", all are called "a", half of them are.
TEST(Kar, LosesAccuracyWhenOnlyAFeatureThatSaysNothingIsKept) {
  Trial trial = corner_trial({1, 3});
  EXPECT_THAT(scored("kar", ":k=0.5:seeds=2", trial).values, ElementsAre(0.5, 0.5));
}

// With all players kept nothing is changed; the mean over k = 1 and k = 2 is a quarter.
TEST(Kar, KeepingAllIsTheUnmodifiedModel) {
  Trial trial = corner_trial({1, 3});
  std::vector<Training> trained;
  trial.trainer = lookup_trainer(&trained);
  const Scores scores = scored("kar", ":k=[0.5,1]:seeds=1", trial);
  EXPECT_THAT(scores.values, ElementsAre(0.25));
  // Unmodified, then ranked and random for each k.
  ASSERT_EQ(trained.size(), 5U);
  for (const size_t i : {0, 3, 4}) EXPECT_TRUE(same_bits(trained[i].rows.x, trial.pool->x)) << i;
}

// Equal attributions, and zeros, go by index: the first player is kept.
TEST(Kar, TiesGoByIndex) {
  Trial equal = corner_trial({-2, 2});
  EXPECT_THAT(scored("kar", ":k=0.5:seeds=1", equal).values, ElementsAre(0));
  Trial zero = corner_trial({0, 0});
  EXPECT_THAT(scored("kar", ":k=0.5:seeds=1", zero).values, ElementsAre(0));
}

// One player of both columns: no share is less than all of it, so nothing is ever taken.
TEST(Kar, OnePlayerIsAlwaysKept) {
  Trial trial = corner_trial({1, 1});
  trial.setting->players = players_of({0, 0}, 1);
  trial.explanations = explanations_of(matrix_of(repeated({1}, 4)));
  trial.pool_explanations.emplace(matrix_of(repeated({1}, 4)));
  const Scores scores = scored("kar", ":seeds=1", trial);
  EXPECT_THAT(scores.values, ElementsAre(0));
  EXPECT_EQ(scores.tables.at(0).rows.size(), 1U);
}

TEST(Kar, SaysWhatItIs) {
  const CriterionInfo& info = find_criterion("kar");
  EXPECT_EQ(info.direction, Direction::lower);
  EXPECT_TRUE(info.needs.trainer && info.needs.labels && info.needs.pool && info.needs.pool_explanations);
}

TEST(Kar, BitsDoNotDependOnThreads) {
  Trial trial = corner_trial({1, 3});
  expect_same_scores_on_threads("kar", ":k=[0.5,1]:seeds=4", trial);
}

}  // namespace
}  // namespace assay::testing

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

Matrix random_values(size_t rows, size_t players, uint64_t seed) {
  RandomStream stream(seed, "top_k_agreement test");
  Matrix made(rows, players);
  for (float& v : made.values()) v = static_cast<float>(stream.normal());
  return made;
}

// The strongest two are 0 and 3 here, 3 and 1 there: one of two in common. Of three: 0, 3, 2 and 3, 1, 0: two.
TEST(TopKAgreement, IsTheShareInCommon) {
  const Explanations other = explanations_of(matrix_of({{2, -3, 1, 4}}));
  Trial trial = bare_trial({{-9, 1, 3, 5}});
  trial.others = {&other};
  trial.other_names = {"lime"};
  EXPECT_EQ(scored("top_k_agreement", ":k=2", trial).values[0], 0.5);
  EXPECT_DOUBLE_EQ(scored("top_k_agreement", ":k=3", trial).values[0], 2.0 / 3);
  EXPECT_EQ(scored("top_k_agreement", ":k=4", trial).values[0], 1);
  // auto: one of four players; 0 and 3.
  const Scores automatic = scored("top_k_agreement", "", trial);
  EXPECT_EQ(automatic.values[0], 0);
  EXPECT_EQ(automatic.notes.at(0), "k = 1 of 4 players");
  EXPECT_EQ(automatic.tables.at(0).labels.at(0), "lime");
  EXPECT_TRUE(scored("top_k_agreement", ":k=2", trial).notes.empty());
}

TEST(TopKAgreement, RefusesMorePlayersThanThereAre) {
  Trial trial = bare_trial({{-9, 1, 3, 5}});
  EXPECT_EQ(refusal_of("top_k_agreement", ":k=5", trial), "needs k of at most the 4 players, and k is 5");
  EXPECT_EQ(refusal_of("top_k_agreement", ":k=4", trial), "");
  EXPECT_EQ(refusal_of("top_k_agreement", "", trial), "");
}

// Ties by index: 0 and 1 in both.
TEST(TopKAgreement, TiesGoByIndex) {
  const Explanations other = explanations_of(matrix_of({{1, 1, 1, 0}}));
  Trial trial = bare_trial({{-1, 1, 1, 1}});
  trial.others = {&other};
  EXPECT_EQ(scored("top_k_agreement", ":k=2", trial).values[0], 1);
}

TEST(TopKAgreement, OfOnePlayerIsOneAndOfZerosUndefined) {
  const Explanations other = explanations_of(matrix_of({{5}, {5}, {0}, {NAN}}));
  Trial trial = bare_trial({{-2}, {0}, {1}, {1}});
  trial.others = {&other};
  const Scores found = scored("top_k_agreement", "", trial);
  EXPECT_EQ(found.values[0], 1);
  for (const size_t r : {1U, 2U, 3U}) EXPECT_TRUE(std::isnan(found.values[r]));
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, kAllZero);
  EXPECT_EQ(found.undefined[0].rows, 2U);
  EXPECT_EQ(found.undefined[1].reason, kNotFinite);
}

TEST(TopKAgreement, EqualsTheIntersectionOfSets) {
  const Matrix mine = random_values(50, 20, 1);
  const Explanations other = explanations_of(random_values(50, 20, 2));
  Trial trial{explanations_of(mine)};
  trial.others = {&other};
  const Scores found = scored("top_k_agreement", ":k=6", trial);
  double sum = 0;
  for (size_t r = 0; r < 50; r++) {
    // A player is on top when fewer than k are stronger.
    size_t both = 0;
    for (size_t p = 0; p < 20; p++) {
      size_t here = 0;
      size_t there = 0;
      for (size_t q = 0; q < 20; q++) {
        here += std::abs(mine(r, q)) > std::abs(mine(r, p)) ? 1 : 0;
        there += std::abs(other.values(r, q)) > std::abs(other.values(r, p)) ? 1 : 0;
      }
      both += here < 6 && there < 6 ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(found.values[r], static_cast<double>(both) / 6);
    sum += found.values[r] / 50;
  }
  // Random orders share k / d = 0.3 on average.
  EXPECT_NEAR(sum, 0.3, 0.1);
}

TEST(TopKAgreement, BitsDoNotDependOnThreads) {
  const Explanations other = explanations_of(random_values(300, 8, 3));
  Trial trial{explanations_of(random_values(300, 8, 4))};
  trial.others = {&other};
  expect_same_scores_on_threads("top_k_agreement", "", trial);
}

}  // namespace
}  // namespace assay::testing

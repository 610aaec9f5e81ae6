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
  RandomStream stream(seed, "sign_agreement test");
  Matrix made(rows, players);
  for (float& v : made.values()) v = static_cast<float>(stream.normal());
  return made;
}

// Signs - + + + 0 against + + + + 0: four of five agree. The strongest two are 0, 3 and 3, 1: player 3 is common with
// one sign, 1/2. The strongest three are 0, 3, 2 and 3, 1, 0: 0 and 3 are common, 0 with another sign: 1/3.
TEST(SignAgreement, CountsCommonPlayersOfOneSign) {
  const Explanations other = explanations_of(matrix_of({{2, 3, 1, 4, 0}}));
  Trial trial = bare_trial({{-9, 1, 3, 5, 0}});
  trial.others = {&other};
  EXPECT_DOUBLE_EQ(scored("sign_agreement", "", trial).values[0], 0.8);
  EXPECT_DOUBLE_EQ(scored("sign_agreement", ":k=2", trial).values[0], 0.5);
  EXPECT_DOUBLE_EQ(scored("sign_agreement", ":k=3", trial).values[0], 1.0 / 3);
  EXPECT_TRUE(scored("sign_agreement", "", trial).notes.empty());
}

TEST(SignAgreement, RefusesMorePlayersThanThereAre) {
  Trial trial = bare_trial({{-9, 1, 3, 5, 0}});
  EXPECT_EQ(refusal_of("sign_agreement", ":k=7", trial), "needs k of at most the 5 players, and k is 7");
  EXPECT_EQ(refusal_of("sign_agreement", ":k=5", trial), "");
  EXPECT_EQ(refusal_of("sign_agreement", "", trial), "");
}

// 0 against 1 is no agreement; -0 is 0.
TEST(SignAgreement, ZeroHasASignOfItsOwn) {
  const Explanations other = explanations_of(matrix_of({{0, 1, 0, 2}}));
  Trial trial = bare_trial({{-0.0F, 0, 3, 1}});
  trial.others = {&other};
  EXPECT_DOUBLE_EQ(scored("sign_agreement", "", trial).values[0], 0.5);
}

TEST(SignAgreement, OfOnePlayerAndOfZeros) {
  const Explanations other = explanations_of(matrix_of({{5}, {5}, {0}, {INFINITY}}));
  Trial trial = bare_trial({{2}, {-2}, {1}, {1}});
  trial.others = {&other};
  const Scores found = scored("sign_agreement", "", trial);
  EXPECT_EQ(found.values[0], 1);
  EXPECT_EQ(found.values[1], 0);
  EXPECT_TRUE(std::isnan(found.values[2]));
  EXPECT_TRUE(std::isnan(found.values[3]));
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, kAllZero);
  EXPECT_EQ(found.undefined[1].reason, kNotFinite);
}

// Turning all signs of one leaves what disagreed: the two shares add up to 1 (nothing is 0).
TEST(SignAgreement, OfTurnedSignsIsTheRest) {
  const Matrix mine = random_values(60, 15, 1);
  const Matrix theirs = random_values(60, 15, 2);
  Matrix turned = theirs;
  for (float& v : turned.values()) v = -v;
  const Explanations other = explanations_of(theirs);
  const Explanations opposite = explanations_of(turned);
  Trial trial{explanations_of(mine)};
  trial.others = {&other};
  const Scores found = scored("sign_agreement", "", trial);
  trial.others = {&opposite};
  const Scores rest = scored("sign_agreement", "", trial);
  for (size_t r = 0; r < 60; r++) {
    double same = 0;
    for (size_t p = 0; p < 15; p++) same += (mine(r, p) > 0) == (theirs(r, p) > 0) ? 1 : 0;
    EXPECT_DOUBLE_EQ(found.values[r], same / 15);
    EXPECT_NEAR(found.values[r] + rest.values[r], 1, 1e-15);
  }
}

TEST(SignAgreement, BitsDoNotDependOnThreads) {
  const Explanations other = explanations_of(random_values(300, 8, 3));
  Trial trial{explanations_of(random_values(300, 8, 4))};
  trial.others = {&other};
  expect_same_scores_on_threads("sign_agreement", ":k=3", trial);
}

}  // namespace
}  // namespace assay::testing

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/aggregate/ranks/contests.h"

namespace assay::testing {
namespace {

std::vector<float> copeland_of(const std::vector<std::vector<float>>& members, const std::string& options = "") {
  MemberTrial trial = one_row(members);
  const Made made = combined_by("copeland", options, trial);
  return {made.values.values().begin(), made.values.values().end()};
}

// Ranks by |phi|: 0 1 2 3, then 1 0 and 2 tied with 3. 0 and 1 tie (one vote each) and beat the others: 1 + 2 + 1/2
// each. 2 beats 3 by one vote and a tie: 1 + 1. 3 beats nobody: 1. All over 4.
TEST(Copeland, ByHand) {
  const std::vector<std::vector<float>> members = {{-8, 4, 2, 1}, {2, -3, 1, -1}};
  EXPECT_EQ(copeland_of(members), (std::vector<float>{0.875F, 0.875F, 0.5F, 0.25F}));
  EXPECT_EQ(copeland_of(members, ":result=ranks"), (std::vector<float>{1, 2, 3, 4}));
  // By value: 1 2 3 0, then 0 2 3 1. 0 ties with all (one vote each): 1 + 3/2. So does 1. 2 beats 3: 1 + 1 + 1. 3: 1
  // + 1.
  EXPECT_EQ(copeland_of(members, ":by=value"), (std::vector<float>{0.625F, 0.625F, 0.75F, 0.5F}));
}

// 0 1 2, 1 2 0, 2 0 1: each beats the next two votes to one, 1 win of 2 each.
TEST(Copeland, OfACondorcetCycleIsATie) {
  const std::vector<std::vector<float>> members = {{3, 2, 1}, {1, 3, 2}, {2, 1, 3}};
  EXPECT_EQ(copeland_of(members), (std::vector<float>{2 / 3.0F, 2 / 3.0F, 2 / 3.0F}));
  EXPECT_EQ(copeland_of(members, ":result=ranks"), (std::vector<float>{1, 2, 3}));
}

TEST(Copeland, DegenerateMembers) {
  EXPECT_EQ(copeland_of({{3, 2, 1}, {0, 0, 0}}), (std::vector<float>{1, 2 / 3.0F, 1 / 3.0F}));
  EXPECT_EQ(copeland_of({{0, 0}, {0, -0.0F}}), (std::vector<float>{0, 0}));
  EXPECT_EQ(copeland_of({{0, 0}}, ":result=ranks"), (std::vector<float>{0, 0}));
  EXPECT_EQ(copeland_of({{-2}, {5}}), std::vector<float>{1});
  EXPECT_EQ(copeland_of({{3, 2, 1}, {-3, -2, -1}}, ":by=value"), (std::vector<float>{2 / 3.0F, 2 / 3.0F, 2 / 3.0F}));
}

TEST(Copeland, WhatIsNoNumberIsUndefined) {
  MemberTrial trial = bare_members({{{1, 2}, {INFINITY, 1}}, {{3, 4}, {1, 2}}});
  Made made = combined_by("copeland", "", trial);
  EXPECT_EQ(made.values(0, 1), 1.0F);
  EXPECT_TRUE(std::isnan(made.values(1, 0)) && std::isnan(made.values(1, 1)));
  EXPECT_EQ(made.combined.undefined.take().size(), 1U);
}

TEST(Copeland, EqualsPairsCounted) {
  for (const size_t players : {1U, 2U, 5U, 30U}) {
    for (const bool by_value : {false, true}) {
      MemberTrial trial = random_members(4, 300, players, players);
      const Made made = combined_by("copeland", by_value ? ":by=value" : "", trial);
      for (size_t r = 0; r < 300; r++) {
        if (all_zero(made.values.row(r))) continue;
        const auto cost = pair_costs(trial, r, by_value);
        for (size_t i = 0; i < players; i++) {
          double score = 1;
          for (size_t j = 0; j < players; j++) {
            if (j != i) score += cost[i][j] < 2 ? 1 : cost[i][j] == 2 ? 0.5 : 0;
          }
          EXPECT_FLOAT_EQ(made.values(r, i), static_cast<float>(score / static_cast<double>(players)));
        }
      }
    }
  }
}

// Wins and ties are shared out: scores add up to 1 + (d - 1) / 2.
TEST(Copeland, OfManyPlayers) {
  MemberTrial trial = random_members(5, 4, 784, 3);
  const Made made = combined_by("copeland", "", trial);
  for (size_t r = 0; r < 4; r++) {
    double sum = 0;
    for (const float each : made.values.row(r)) sum += each;
    EXPECT_NEAR(sum, 785 / 2.0, 1e-3);
  }
}

TEST(Copeland, SameOnAnyThreads) {
  MemberTrial trial = random_members(4, 300, 9, 2);
  expect_same_aggregate_on_threads("copeland", "", trial);
  expect_same_aggregate_on_threads("copeland", ":result=ranks:by=value", trial);
}

}  // namespace
}  // namespace assay::testing

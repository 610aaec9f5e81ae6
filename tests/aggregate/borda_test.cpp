#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/aggregate/ranks/contests.h"

namespace assay::testing {
namespace {

std::vector<float> borda_of(const std::vector<std::vector<float>>& members, const std::string& options = "") {
  MemberTrial trial = one_row(members);
  const Made made = combined_by("borda", options, trial);
  return {made.values.values().begin(), made.values.values().end()};
}

// Ranks by |phi|: 1 2 3 4, then 2 1 3.5 3.5. Sums 3, 3, 6.5, 7.5; scores (5 - half of that) / 4.
TEST(Borda, ByHand) {
  const std::vector<std::vector<float>> members = {{-8, 4, 2, 1}, {2, -3, 1, -1}};
  EXPECT_EQ(borda_of(members), (std::vector<float>{0.875F, 0.875F, 0.4375F, 0.3125F}));
  EXPECT_EQ(borda_of(members, ":result=ranks"), (std::vector<float>{1, 2, 3, 4}));
  // By value: 4 1 2 3, then 1 4 2 3. Sums 5, 5, 4, 6.
  EXPECT_EQ(borda_of(members, ":by=value"), (std::vector<float>{0.625F, 0.625F, 0.75F, 0.5F}));
  EXPECT_EQ(borda_of(members, ":by=value:result=ranks"), (std::vector<float>{2, 3, 1, 4}));
}

// A zero member ties all: rank (d + 1) / 2 to each, which moves all scores towards the middle and changes no order.
TEST(Borda, AZeroMemberTiesEverybody) {
  EXPECT_EQ(borda_of({{3, 2, 1}, {0, 0, 0}}), (std::vector<float>{5 / 6.0F, 2 / 3.0F, 0.5F}));
  EXPECT_EQ(borda_of({{3, 2, 1}, {0, -0.0F, 0}}, ":result=ranks"), (std::vector<float>{1, 2, 3}));
}

TEST(Borda, NobodyIsRankedWhereAllMembersAreZero) {
  EXPECT_EQ(borda_of({{0, 0}, {0, -0.0F}}), (std::vector<float>{0, 0}));
  EXPECT_EQ(borda_of({{0, 0}}, ":result=ranks"), (std::vector<float>{0, 0}));
}

TEST(Borda, OnePlayerAndOppositeMembers) {
  EXPECT_EQ(borda_of({{-2}, {5}}), std::vector<float>{1});
  EXPECT_EQ(borda_of({{3, 2, 1}, {-3, -2, -1}}), (std::vector<float>{1, 2 / 3.0F, 1 / 3.0F}));
  EXPECT_EQ(borda_of({{3, 2, 1}, {-3, -2, -1}}, ":by=value:result=ranks"), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(borda_of({{3, 2, 1}, {-3, -2, -1}}, ":by=value"), (std::vector<float>{2 / 3.0F, 2 / 3.0F, 2 / 3.0F}));
}

TEST(Borda, WhatIsNoNumberIsUndefined) {
  MemberTrial trial = bare_members({{{1, 2}, {NAN, 1}}, {{2, 1}, {1, 2}}});
  Made made = combined_by("borda", "", trial);
  EXPECT_EQ(made.values(0, 0), 0.75F);
  EXPECT_TRUE(std::isnan(made.values(1, 0)) && std::isnan(made.values(1, 1)));
  EXPECT_EQ(made.combined.undefined.take().size(), 1U);
}

// rank = 1 + players above + tied others / 2, counted pair by pair.
TEST(Borda, EqualsPairsCounted) {
  for (const size_t players : {1U, 2U, 5U, 40U}) {
    for (const bool by_value : {false, true}) {
      MemberTrial trial = random_members(3, 300, players, players);
      const Made made = combined_by("borda", by_value ? ":by=value" : "", trial);
      const auto d = static_cast<double>(players);
      for (size_t r = 0; r < 300; r++) {
        if (all_zero(made.values.row(r))) continue;
        const auto cost = pair_costs(trial, r, by_value);
        for (size_t i = 0; i < players; i++) {
          // Each pair charges 1 for being below and 1/2 for a tie; with itself a player ties.
          double rank = 1 - 0.5;
          for (size_t j = 0; j < players; j++) rank += cost[i][j] / 3;
          EXPECT_NEAR(made.values(r, i), (d + 1 - rank) / d, 1e-6);
        }
      }
    }
  }
}

// Scores add up to (d + 1) / 2, whatever the members say.
TEST(Borda, OfManyPlayers) {
  MemberTrial trial = random_members(5, 8, 784, 3);
  const Made made = combined_by("borda", "", trial);
  const Made ranks = combined_by("borda", ":result=ranks", trial);
  for (size_t r = 0; r < 8; r++) {
    double sum = 0;
    for (const float each : made.values.row(r)) sum += each;
    EXPECT_NEAR(sum, 785 / 2.0, 1e-3);
    std::vector<float> sorted(ranks.values.row(r).begin(), ranks.values.row(r).end());
    std::ranges::sort(sorted);
    for (size_t p = 0; p < 784; p++) EXPECT_EQ(sorted[p], static_cast<float>(p + 1));
  }
}

TEST(Borda, OfOneMemberIsItsOwnRanking) {
  MemberTrial trial = random_members(1, 300, 7, 9);
  const Made made = combined_by("borda", ":result=ranks", trial);
  for (size_t r = 0; r < 300; r++) {
    const auto values = trial.members[0].values.row(r);
    if (all_zero(values)) continue;
    for (size_t i = 0; i < 7; i++) {
      float rank = 1;
      for (size_t j = 0; j < 7; j++) {
        const float a = std::abs(values[i]);
        const float b = std::abs(values[j]);
        rank += b > a || (b == a && j < i) ? 1.0F : 0.0F;
      }
      EXPECT_EQ(made.values(r, i), rank);
    }
  }
}

TEST(Borda, SameOnAnyThreads) {
  MemberTrial trial = random_members(4, 300, 9, 2);
  expect_same_aggregate_on_threads("borda", "", trial);
  expect_same_aggregate_on_threads("borda", ":result=ranks:by=value", trial);
}

}  // namespace
}  // namespace assay::testing

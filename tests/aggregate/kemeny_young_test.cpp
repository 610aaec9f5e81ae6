#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "assay/aggregate/ranks/cbc.h"
#include "assay/core/rank_pairs.h"
#include "tests/aggregate/ranks/contests.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

Made kemeny(MemberTrial& trial, const std::string& options = "", const Context& context = {}) {
  return combined_by("kemeny_young", options, trial, context);
}

const std::vector<double>& costs_of(const Made& made) { return made.combined.measures[0].values; }
const std::vector<double>& bounds_of(const Made& made) { return made.combined.measures[1].values; }

std::vector<float> values_of(const Made& made) { return {made.values.values().begin(), made.values.values().end()}; }

std::optional<Refusal> refusal(MemberTrial& trial, const std::string& options) {
  return make_aggregator("kemeny_young" + options)->refuses(trial.task());
}

// Random members whose orders disagree much, without the easy kinds.
MemberTrial disagreeing(size_t members, size_t rows, size_t players, uint64_t seed, bool rounded = false) {
  MemberTrial made;
  for (size_t j = 0; j < members; j++) {
    Matrix values(rows, players);
    RandomStream draw(seed, "disagreeing members", j);
    for (float& each : values.values()) {
      each = static_cast<float>(rounded ? std::round(2 * draw.normal()) : draw.normal());
    }
    made.members.push_back(explanations_of(std::move(values)));
  }
  return made;
}

// Orders 0 1 2 (twice), 1 2 0 (twice), 2 0 1 (once): 0 before 1 by 3 to 2, 1 before 2 by 4 to 1, 2 before 0 by 3 to 2.
// 0 1 2 costs 2 + 1 + 3 = 6, 1 2 0 costs 1 + 2 + 3 = 6, 2 0 1 costs 2 + 2 + 4 = 8, 0 2 1: 3 + 2 + 4, 1 0 2: 3 + 1 + 3,
// 2 1 0: 3 + 2 + 4. Of the two best ones the first by index. Scores (3 + 1 - rank) / 3.
TEST(KemenyYoung, OfACondorcetCycleByHand) {
  MemberTrial trial = one_row({{-9, 8, 7}, {3, -2, 1}, {1, 3, 2}, {0, -5, 4}, {2, 1, 3}});
  const Made made = kemeny(trial);
  EXPECT_EQ(values_of(made), (std::vector<float>{1, 2 / 3.0F, 1 / 3.0F}));
  EXPECT_EQ(made.combined.measures[0].name, "cost");
  EXPECT_EQ(made.combined.measures[1].name, "bound");
  EXPECT_EQ(costs_of(made)[0], 6);
  EXPECT_EQ(bounds_of(made)[0], 6);
  EXPECT_EQ(values_of(kemeny(trial, ":result=ranks")), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(made.combined.notes.empty());
}

// By value 2, 1, 0 and 2, 0, 1; by magnitude 0, 1, 2 and 2, 1, 0.
TEST(KemenyYoung, ByMagnitudeOrByValue) {
  MemberTrial trial = one_row({{-3, -2, 1}, {1, -2, 3}});
  EXPECT_EQ(values_of(kemeny(trial, ":result=ranks")), (std::vector<float>{1, 2, 3}));  // all tied
  EXPECT_EQ(costs_of(kemeny(trial))[0], 3);
  EXPECT_EQ(values_of(kemeny(trial, ":by=value:result=ranks")), (std::vector<float>{2, 3, 1}));
  EXPECT_EQ(costs_of(kemeny(trial, ":by=value"))[0], 1);
}

TEST(KemenyYoung, DegenerateMembers) {
  MemberTrial zero = one_row({{0, 0, 0}, {0, -0.0F, 0}});
  EXPECT_EQ(values_of(kemeny(zero)), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(values_of(kemeny(zero, ":result=ranks")), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(costs_of(kemeny(zero))[0], 3);  // 3 pairs, each tied by both
  MemberTrial one_zero = one_row({{1, 3, 2}, {0, 0, 0}});
  EXPECT_EQ(values_of(kemeny(one_zero, ":result=ranks")), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(costs_of(kemeny(one_zero))[0], 1.5);
  MemberTrial one_player = one_row({{-2}, {5}});
  EXPECT_EQ(values_of(kemeny(one_player)), std::vector<float>{1});
  EXPECT_EQ(costs_of(kemeny(one_player))[0], 0);
  MemberTrial opposite = one_row({{1, 2, 3}, {-1, -2, -3}});
  EXPECT_EQ(values_of(kemeny(opposite, ":by=value:result=ranks")), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(values_of(kemeny(opposite, ":result=ranks")), (std::vector<float>{3, 2, 1}));
  MemberTrial no_number = bare_members({{{1, 2}, {NAN, 1}}});
  Made made = kemeny(no_number);
  EXPECT_TRUE(std::isnan(made.values(1, 0)) && std::isnan(costs_of(made)[1]) && std::isnan(bounds_of(made)[1]));
  EXPECT_EQ(costs_of(made)[0], 0);
  EXPECT_EQ(made.combined.undefined.take().size(), 1U);
}

// The cost that it says is the cost by definition of the ranking that it gives, and no ranking of all costs less.
TEST(KemenyYoung, CostsAsMuchAsTheBestOfAllOrders) {
  size_t checked = 0;
  for (size_t players = 1; players <= 8; players++) {
    for (size_t members = 1; members <= 6; members++) {
      const size_t rows = players == 8 ? 10 : 100;
      for (const bool by_value : {false, true}) {
        MemberTrial trial = by_value ? disagreeing(members, rows, players, 7 * players + members, members % 2 == 0)
                                     : random_members(members, rows, players, 7 * players + members);
        const Made made = kemeny(trial, by_value ? ":result=ranks:by=value" : ":result=ranks");
        for (size_t r = 0; r < rows; r++) {
          const auto cost = pair_costs(trial, r, by_value);
          std::vector<bool> placed(players, false);
          const double least = least_cost(cost, placed);
          EXPECT_EQ(costs_of(made)[r], least);
          EXPECT_EQ(bounds_of(made)[r], least);
          checked++;
          if (all_zero(made.values.row(r))) continue;
          EXPECT_EQ(cost_of_ranks(cost, made.values.row(r)), least);
        }
        EXPECT_TRUE(made.combined.notes.empty());
      }
    }
  }
  EXPECT_GT(checked, 8000U);
}

TEST(KemenyYoung, SolversAgreeInCost) {
  const bool cbc = find_cbc().table != nullptr;
  for (const size_t players : {3U, 9U, 13U, 17U}) {
    for (const bool rounded : {false, true}) {
      const size_t rows = players == 17 ? 6 : 40;
      MemberTrial trial = disagreeing(3 + players % 4, rows, players, players, rounded);
      const Made any = kemeny(trial);
      const Made subsets = kemeny(trial, ":solver=dp");
      EXPECT_EQ(costs_of(any), costs_of(subsets));
      EXPECT_EQ(bounds_of(any), costs_of(subsets));
      EXPECT_EQ(bounds_of(subsets), costs_of(subsets));
      const Made search = kemeny(trial, ":solver=search:result=ranks");
      for (size_t r = 0; r < rows; r++) {
        EXPECT_GE(costs_of(search)[r], costs_of(subsets)[r]);
        EXPECT_LE(bounds_of(search)[r], costs_of(subsets)[r]);
        EXPECT_EQ(costs_of(search)[r], cost_of_ranks(pair_costs(trial, r), search.values.row(r)));
      }
      if (!cbc) continue;
      const Made by_cbc = kemeny(trial, ":solver=cbc:time_limit=1e6");
      EXPECT_EQ(costs_of(by_cbc), costs_of(subsets));
      EXPECT_EQ(bounds_of(by_cbc), costs_of(subsets));
    }
  }
  if (!cbc) GTEST_SKIP() << "without CBC: " << find_cbc().missing;
}

TEST(KemenyYoung, TwentyPlayersBySubsets) {
  MemberTrial trial = disagreeing(5, 4, 20, 11);
  const Made subsets = kemeny(trial, ":solver=dp:result=ranks");
  EXPECT_EQ(costs_of(kemeny(trial)), costs_of(subsets));
  EXPECT_EQ(bounds_of(kemeny(trial)), costs_of(subsets));
  for (size_t r = 0; r < 4; r++) {
    EXPECT_EQ(costs_of(subsets)[r], cost_of_ranks(pair_costs(trial, r), subsets.values.row(r)));
  }
  if (const CbcPlugin cbc = find_cbc(); cbc.table == nullptr) GTEST_SKIP() << "without CBC: " << cbc.missing;
  EXPECT_EQ(costs_of(kemeny(trial, ":solver=cbc:time_limit=1e6")), costs_of(subsets));
}

TEST(KemenyYoung, CbcCertifiesMorePlayers) {
  if (const CbcPlugin cbc = find_cbc(); cbc.table == nullptr) GTEST_SKIP() << "no CBC: " << cbc.missing;
  MemberTrial trial = disagreeing(7, 3, 45, 4);
  const Made found = kemeny(trial, ":result=ranks:time_limit=1e6");
  const Made search = kemeny(trial, ":solver=search");
  EXPECT_TRUE(found.combined.notes.empty());
  for (size_t r = 0; r < 3; r++) {
    EXPECT_EQ(costs_of(found)[r], bounds_of(found)[r]);
    EXPECT_EQ(costs_of(found)[r], cost_of_ranks(pair_costs(trial, r), found.values.row(r)));
    EXPECT_LE(costs_of(found)[r], costs_of(search)[r]);
    EXPECT_GE(costs_of(found)[r], bounds_of(search)[r]);
  }
  // No time at all: the search's order and bound, and a note that says so.
  const Made hurried = kemeny(trial, ":time_limit=0");
  EXPECT_EQ(costs_of(hurried), costs_of(search));
  EXPECT_EQ(bounds_of(hurried), bounds_of(search));
  ASSERT_EQ(hurried.combined.notes.size(), 1U);
  EXPECT_THAT(hurried.combined.notes[0], HasSubstr("0 of 3 rows are certified optimal"));
}

TEST(KemenyYoung, SearchOrdersManyPlayers) {
  MemberTrial trial = random_members(5, 4, 784, 5);
  const Made made = kemeny(trial, ":solver=search:result=ranks");
  size_t open = 0;
  for (size_t r = 0; r < 4; r++) {
    std::set<float> ranks(made.values.row(r).begin(), made.values.row(r).end());
    EXPECT_EQ(ranks.size(), 784U);
    EXPECT_EQ(*ranks.rbegin(), 784);
    EXPECT_EQ(costs_of(made)[r], cost_of_ranks(pair_costs(trial, r), made.values.row(r)));
    EXPECT_LE(bounds_of(made)[r], costs_of(made)[r]);
    EXPECT_GE(bounds_of(made)[r], 0.8 * costs_of(made)[r]);
    open += bounds_of(made)[r] < costs_of(made)[r] ? 1 : 0;
  }
  ASSERT_EQ(made.combined.notes.size(), open > 0 ? 1U : 0U);
  EXPECT_GT(open, 0U);
}

// Many players that all members tie, as pixels that are always black, are one player to the solver.
TEST(KemenyYoung, PlayersThatAllTieStayTogether) {
  MemberTrial few = disagreeing(4, 20, 9, 21);
  MemberTrial many;
  for (const Explanations& member : few.members) {
    Matrix values(20, 200);
    for (size_t r = 0; r < 20; r++) {
      for (size_t p = 0; p < 200; p++) values(r, p) = member.values(r, p % 9);
    }
    many.members.push_back(explanations_of(std::move(values)));
  }
  const Made made = kemeny(many, ":result=ranks");
  for (size_t r = 0; r < 20; r++) {
    EXPECT_EQ(bounds_of(made)[r], costs_of(made)[r]);
    EXPECT_EQ(costs_of(made)[r], cost_of_ranks(pair_costs(many, r), made.values.row(r)));
    for (size_t p = 9; p < 200; p++) EXPECT_EQ(made.values(r, p), made.values(r, p - 9) + 1);
  }
}

TEST(KemenyYoung, OfOneMemberIsItsOwnRanking) {
  for (const size_t players : {6U, 784U}) {
    const size_t rows = players == 6 ? 200 : 8;
    MemberTrial trial = random_members(1, rows, players, 9);
    const Made made = kemeny(trial, ":result=ranks");
    const Made borda = combined_by("borda", ":result=ranks", trial);
    const Made copeland = combined_by("copeland", ":result=ranks", trial);
    EXPECT_TRUE(same_bits(made.values, borda.values));
    EXPECT_TRUE(same_bits(made.values, copeland.values));
    for (size_t r = 0; r < rows; r++) {
      const auto values = trial.members[0].values.row(r);
      if (all_zero(values)) continue;
      for (size_t i = 0; i < players; i += 5) {
        float rank = 1;
        for (size_t j = 0; j < players; j++) {
          const float a = std::abs(values[i]);
          const float b = std::abs(values[j]);
          rank += b > a || (b == a && j < i) ? 1.0F : 0.0F;
        }
        EXPECT_EQ(made.values(r, i), rank);
      }
    }
  }
}

// The three methods give an order that all members share the same scores.
TEST(KemenyYoung, AgreesWithBordaAndCopelandWhereMembersDo) {
  MemberTrial trial = disagreeing(1, 50, 12, 3);
  for (int copy = 0; copy < 3; copy++) {
    Matrix values = trial.members[0].values;
    for (float& each : values.values()) each *= copy == 1 ? -0.3F : each * each;
    trial.members.push_back(explanations_of(std::move(values)));
  }
  const Made made = kemeny(trial);
  EXPECT_TRUE(same_bits(made.values, combined_by("borda", "", trial).values));
  EXPECT_TRUE(same_bits(made.values, combined_by("copeland", "", trial).values));
  for (const double cost : costs_of(made)) EXPECT_EQ(cost, 0);
}

// Nobody's ranking costs less; Borda's no more than five times as much (Coppersmith, Fleischer, Rudra 2010).
TEST(KemenyYoung, CostsNoMoreThanBordaAndCopeland) {
  for (const size_t players : {4U, 9U, 14U}) {
    MemberTrial trial = random_members(5, 60, players, players);
    const Made made = kemeny(trial);
    const Made borda = combined_by("borda", ":result=ranks", trial);
    const Made copeland = combined_by("copeland", ":result=ranks", trial);
    for (size_t r = 0; r < 60; r++) {
      if (all_zero(made.values.row(r))) continue;
      const auto cost = pair_costs(trial, r);
      EXPECT_LE(costs_of(made)[r], cost_of_ranks(cost, borda.values.row(r)));
      EXPECT_LE(costs_of(made)[r], cost_of_ranks(cost, copeland.values.row(r)));
      EXPECT_LE(cost_of_ranks(cost, borda.values.row(r)), 5 * costs_of(made)[r]);
    }
  }
}

// Whoever beats each of the others on most votes is first, also where nothing is proven.
TEST(KemenyYoung, PutsACondorcetWinnerFirst) {
  size_t winners = 0;
  for (const char* options : {":result=ranks", ":result=ranks:solver=search"}) {
    MemberTrial trial = disagreeing(5, 200, 12, 51);
    const Made made = kemeny(trial, options);
    for (size_t r = 0; r < 200; r++) {
      const auto cost = pair_costs(trial, r);
      for (size_t i = 0; i < 12; i++) {
        bool wins = true;
        for (size_t j = 0; j < 12; j++) wins = wins && (j == i || cost[i][j] < 2.5);
        if (!wins) continue;
        EXPECT_EQ(made.values(r, i), 1);
        winners++;
      }
    }
  }
  EXPECT_GT(winners, 100U);
}

// Against Knight's count of exchanges: apart + half of what a member ties.
TEST(KemenyYoung, CostIsKendallsCount) {
  MemberTrial trial = random_members(3, 100, 15, 31);
  const Made made = kemeny(trial, ":result=ranks");
  for (size_t r = 0; r < 100; r++) {
    if (all_zero(made.values.row(r))) continue;
    double cost = 0;
    for (const Explanations& member : trial.members) {
      std::vector<double> sizes;
      std::vector<double> order;
      for (size_t p = 0; p < 15; p++) {
        sizes.push_back(std::abs(member.values(r, p)));
        order.push_back(-made.values(r, p));
      }
      const RankPairs pairs = count_rank_pairs(sizes, order);
      cost += static_cast<double>(pairs.apart) + 0.5 * static_cast<double>(pairs.tied_a);
    }
    EXPECT_EQ(costs_of(made)[r], cost);
  }
}

TEST(KemenyYoung, CostDoesNotDependOnTheOrderOfPlayers) {
  MemberTrial trial = random_members(4, 60, 11, 41);
  MemberTrial shuffled = trial;
  RandomStream draw(1, "players");
  std::vector<uint32_t> to(11);
  draw.permutation(to);
  for (size_t j = 0; j < 4; j++) {
    for (size_t r = 0; r < 60; r++) {
      for (size_t p = 0; p < 11; p++) shuffled.members[j].values(r, to[p]) = trial.members[j].values(r, p);
    }
  }
  EXPECT_EQ(costs_of(kemeny(trial)), costs_of(kemeny(shuffled)));
}

TEST(KemenyYoung, RefusesWhatItsSolversCannotDo) {
  MemberTrial wide = random_members(2, 1, 21, 1);
  EXPECT_EQ(refusal(wide, ":solver=dp"), "with solver=dp orders at most 20 players, and there are 21");
  EXPECT_EQ(refusal(wide, ""), std::nullopt);
  MemberTrial fits = random_members(2, 1, 20, 1);
  EXPECT_EQ(refusal(fits, ":solver=dp"), std::nullopt);
  MemberTrial huge = random_members(1, 1, 4097, 1);
  EXPECT_EQ(refusal(huge, ":solver=search"), "orders at most 4096 players, and there are 4097");
  if (const CbcPlugin cbc = find_cbc(); cbc.table == nullptr) {
    EXPECT_THAT(refusal(fits, ":solver=cbc").value().reason,
                HasSubstr("needs the CBC plugin with solver=cbc, and lib"));
  } else {
    EXPECT_EQ(refusal(fits, ":solver=cbc"), std::nullopt);
  }
}

// Where only the search decides, too: last of a batch, or alone.
TEST(KemenyYoung, ARowsResultDoesNotDependOnItsPlace) {
  MemberTrial batch = disagreeing(5, 8, 60, 17);
  const Made all = kemeny(batch, ":solver=search");
  size_t open = 0;
  for (size_t r = 0; r < 8; r++) {
    MemberTrial alone;
    for (const Explanations& member : batch.members) {
      Matrix values(1, 60);
      std::ranges::copy(member.values.row(r), values.row(0).begin());
      alone.members.push_back(explanations_of(std::move(values)));
    }
    const Made one = kemeny(alone, ":solver=search");
    const auto row = all.values.row(r);
    EXPECT_EQ(values_of(one), std::vector<float>(row.begin(), row.end())) << "row " << r;
    EXPECT_EQ(costs_of(one)[0], costs_of(all)[r]);
    open += costs_of(one)[0] > bounds_of(one)[0] ? 1 : 0;
  }
  EXPECT_EQ(open, 8U) << "nothing is left to chance";
}

TEST(KemenyYoung, SameOnAnyThreads) {
  MemberTrial trial = random_members(4, 100, 13, 2);
  expect_same_aggregate_on_threads("kemeny_young", "", trial);
  MemberTrial wide = disagreeing(5, 6, 40, 2);
  expect_same_aggregate_on_threads("kemeny_young", ":solver=search", wide);
  expect_same_aggregate_on_threads("kemeny_young", ":time_limit=1e6", wide);
}

}  // namespace
}  // namespace assay::testing

#include "assay/aggregate/ranks/tournament.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "assay/core/error.h"
#include "tests/aggregate/ranks/contests.h"

namespace assay::testing {
namespace {

using Order = std::vector<uint32_t>;

Order all_in_order(size_t size) {
  Order made(size);
  std::iota(made.begin(), made.end(), 0U);
  return made;
}

bool is_order(Order order) {
  std::ranges::sort(order);
  return order == all_in_order(order.size());
}

Order some_order(const Tournament& tournament, uint64_t seed = 1) {
  return good_order(tournament, triangle_bound(tournament), RandomStream(seed, "tournament test"), {});
}

// 0 beats 1 by 3, 1 beats 2 by 4, 2 beats 0 by 1, and all three beat 3, by 1, 2 and 3.
Tournament small_cycle() {
  Tournament made(4);
  made.set(0, 1, 3);
  made.set(1, 2, 4);
  made.set(2, 0, 1);
  for (size_t i = 0; i < 3; i++) made.set(i, 3, static_cast<int64_t>(i) + 1);
  return made;
}

TEST(Tournament, UpsetsOfACycleByHand) {
  const Tournament cycle = small_cycle();
  EXPECT_EQ(upsets(cycle, Order{0, 1, 2, 3}), 1);          // 2 should be before 0
  EXPECT_EQ(upsets(cycle, Order{2, 0, 1, 3}), 4);          // 1 before 2
  EXPECT_EQ(upsets(cycle, Order{1, 2, 0, 3}), 3);          // 0 before 1
  EXPECT_EQ(upsets(cycle, Order{3, 2, 1, 0}), 6 + 4 + 3);  // 3 last, 1 before 2, 0 before 1
  EXPECT_EQ(best_order(cycle, {}), (Order{0, 1, 2, 3}));
  EXPECT_EQ(triangle_bound(cycle), 1);
  EXPECT_EQ(components(cycle), (std::vector<Order>{{0, 1, 2}, {3}}));
}

// 3 beats 1, 1 beats 0; 2 ties with all: it could go anywhere, and goes where its number is next.
TEST(Tournament, ComponentsWithoutAnOrderGoByTheirLowestPlayer) {
  Tournament ties(4);
  ties.set(3, 1, 1);
  ties.set(1, 0, 2);
  EXPECT_EQ(components(ties), (std::vector<Order>{{2}, {3}, {1}, {0}}));
  EXPECT_EQ(components(Tournament(3)), (std::vector<Order>{{0}, {1}, {2}}));
  EXPECT_EQ(components(Tournament(1)), (std::vector<Order>{{0}}));
}

TEST(Tournament, AmongSomePlayers) {
  const Tournament part = small_cycle().among(Order{3, 1});
  EXPECT_EQ(part.size(), 2U);
  EXPECT_EQ(part.margin(0, 1), -2);
  EXPECT_EQ(part.margin(1, 0), 2);
}

TEST(Tournament, BestOrderIsTheFirstOfTheBestOfAll) {
  for (uint64_t seed = 0; seed < 400; seed++) {
    const size_t size = 1 + seed % 7;
    const Tournament tournament = noisy_tournament(size, 2 + seed % 4, 1, seed, 0.2);
    Order order = all_in_order(size);
    Order best = order;
    do {
      if (upsets(tournament, order) < upsets(tournament, best)) best = order;
    } while (std::ranges::next_permutation(order).found);
    EXPECT_EQ(best_order(tournament, {}), best) << seed;
  }
}

// The theorem that lets components be ordered one by one, with ties, against all players at once.
TEST(Tournament, BestOrdersOfComponentsAreABestOrder) {
  size_t split = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    const size_t size = 2 + seed % 11;
    const Tournament tournament =
        noisy_tournament(size, 2 + seed % 5, seed % 2 == 0 ? 0.3 : 1, seed, seed % 3 == 0 ? 0.5 : 0);
    Order order;
    const auto parts = components(tournament);
    for (const Order& part : parts) {
      EXPECT_TRUE(std::ranges::is_sorted(part));
      for (const uint32_t each : best_order(tournament.among(part), {})) order.push_back(part[each]);
    }
    split += parts.size() > 1 && parts.size() < size ? 1 : 0;
    ASSERT_TRUE(is_order(order));
    EXPECT_EQ(upsets(tournament, order), upsets(tournament, best_order(tournament, {}))) << seed;
  }
  EXPECT_GT(split, 100U);
}

// Within a component everybody reaches everybody; nobody is beaten from a later one.
TEST(Tournament, ComponentsAreStronglyConnectedAndInOrder) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    const Tournament tournament = noisy_tournament(90, 3 + seed % 2, 0.02 + 0.002 * static_cast<double>(seed), seed);
    const auto parts = components(tournament);
    std::vector<size_t> place(90, 0);
    for (size_t p = 0; p < parts.size(); p++) {
      for (const uint32_t each : parts[p]) place[each] = p;
      EXPECT_NE(parts[p].size(), 2U);
      Order reached = {parts[p][0]};
      for (size_t at = 0; at < reached.size(); at++) {
        for (const uint32_t each : parts[p]) {
          const bool beats = tournament.margin(reached[at], each) > 0;
          if (beats && std::ranges::find(reached, each) == reached.end()) reached.push_back(each);
        }
      }
      EXPECT_EQ(reached.size(), parts[p].size());
    }
    for (size_t i = 0; i < 90; i++) {
      for (size_t j = 0; j < 90; j++) EXPECT_FALSE(place[i] > place[j] && tournament.margin(i, j) > 0);
    }
  }
}

TEST(Tournament, BoundAndGoodOrderEncloseTheBest) {
  size_t tight = 0;
  size_t found = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    const Tournament tournament = noisy_tournament(3 + seed % 11, 3 + seed % 4, 1, seed, seed % 2 == 0 ? 0.3 : 0);
    const int64_t best = upsets(tournament, best_order(tournament, {}));
    const int64_t bound = triangle_bound(tournament);
    const Order good = some_order(tournament);
    ASSERT_TRUE(is_order(good));
    EXPECT_LE(bound, best);
    EXPECT_GE(upsets(tournament, good), best);
    tight += bound == best ? 1 : 0;
    found += upsets(tournament, good) == best ? 1 : 0;
  }
  // Neither is promised; both fell far when the code was broken.
  EXPECT_GT(tight, 150U);
  EXPECT_GT(found, 295U);
}

// No single player is better anywhere else, and the same seed gives the same order.
TEST(Tournament, GoodOrdersOfManyPlayers) {
  for (const size_t size : {100U, 400U}) {
    for (const double noise : {0.1, 10.0}) {
      const Tournament tournament = noisy_tournament(size, 6, noise, size);
      const Order order = some_order(tournament);
      ASSERT_TRUE(is_order(order));
      const int64_t found = upsets(tournament, order);
      EXPECT_GE(found, triangle_bound(tournament));
      EXPECT_GT(triangle_bound(tournament), found / 2);
      EXPECT_EQ(some_order(tournament), order);
      for (size_t at = 0; at < size; at += 7) {
        int64_t moved = 0;
        for (size_t p = at; p-- > 0;) {
          moved += tournament.margin(order[at], order[p]);
          EXPECT_LE(moved, 0);
        }
        moved = 0;
        for (size_t p = at + 1; p < size; p++) {
          moved += tournament.margin(order[p], order[at]);
          EXPECT_LE(moved, 0);
        }
      }
    }
  }
}

TEST(Tournament, StopsWhenAsked) {
  const std::atomic<bool> cancelled = true;
  const Context context{.cancelled = &cancelled};
  EXPECT_THROW(best_order(noisy_tournament(20, 3, 1, 1), context), Error);
  EXPECT_THROW(good_order(noisy_tournament(30, 3, 1, 1), 0, RandomStream(1, "x"), context), Error);
}

}  // namespace
}  // namespace assay::testing

#include "assay/explain/games/coalition_design.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "assay/core/error.h"

namespace assay::testing {
namespace {

constexpr std::array kAllocations = {PairAllocation::kernel, PairAllocation::leverage, PairAllocation::balanced};

Context seeded(uint64_t seed) {
  Context made;
  made.seed = seed;
  return made;
}

std::vector<size_t> counts(size_t players, size_t pairs, PairAllocation allocation) {
  std::vector<size_t> found;
  for (const PairStratum& stratum : allocate_pairs(players, pairs, allocation)) {
    found.push_back(stratum.end - stratum.begin);
  }
  return found;
}

std::vector<uint64_t> bits_of(const Coalitions& coalitions, size_t c) {
  std::vector<uint64_t> bits;
  for (size_t w = 0; w < coalitions.words(); w++) bits.push_back(coalitions.word(c, w));
  return bits;
}

size_t size_of(const Coalitions& coalitions, size_t c) {
  size_t size = 0;
  for (const uint64_t word : bits_of(coalitions, c)) size += static_cast<size_t>(std::popcount(word));
  return size;
}

TEST(CoalitionDesign, SharesOutPairsAsWorkedByHand) {
  // Six players: 6, 15 and 10 pairs of sizes 1, 2 and 3; 20 pairs are wanted.
  // kernel: masses 2, 1.25 and 0.5556 give size 1 10.5 of 20, so it is whole; 14 are left for 1.25 : 0.5556, which is
  // 9.69 : 4.31.
  EXPECT_EQ(counts(6, 20, PairAllocation::kernel), (std::vector<size_t>{6, 10, 4}));
  // leverage: 2 : 2 : 1 give size 1 8 of 20; 14 are left for 2 : 1, which is 9.33 : 4.67.
  EXPECT_EQ(counts(6, 20, PairAllocation::leverage), (std::vector<size_t>{6, 9, 5}));
  // balanced: 0.894 : 0.707 : 0.333 give size 1 9.2 of 20; 14 are left for 0.707 : 0.333, which is 9.52 : 4.48.
  EXPECT_EQ(counts(6, 20, PairAllocation::balanced), (std::vector<size_t>{6, 10, 4}));
  // leverage: 2.4 : 2.4 : 1.2 of 6 pairs; with the remainder 3, 2 and 1, and the last takes one to have two.
  EXPECT_EQ(counts(6, 6, PairAllocation::leverage), (std::vector<size_t>{2, 2, 2}));
  EXPECT_EQ(counts(6, 31, PairAllocation::kernel), (std::vector<size_t>{6, 15, 10}));
}

TEST(CoalitionDesign, MassesAreThoseOfTheShapleyKernel) {
  for (const size_t players : {4, 5, 14, 31}) {
    double expected = 0;
    for (size_t k = 1; k < players; k++) {
      expected += static_cast<double>(players - 1) / static_cast<double>(k * (players - k));
    }
    for (const PairAllocation allocation : kAllocations) {
      double mass = 0;
      double weights = 0;
      for (const PairStratum& stratum : allocate_pairs(players, players, allocation)) {
        mass += stratum.mass;
        weights += stratum.weight() * static_cast<double>(stratum.end - stratum.begin);
      }
      EXPECT_NEAR(mass, expected, 1e-12 * expected);
      EXPECT_NEAR(weights, expected, 1e-12 * expected);
    }
  }
  // A whole stratum has the kernel's own weight for a pair, twice that of a coalition: 2 * 4 / (C(5, 2) 2 * 3).
  const auto strata = allocate_pairs(5, 15, PairAllocation::kernel);
  EXPECT_TRUE(strata[1].whole());
  EXPECT_DOUBLE_EQ(strata[1].weight(), 2.0 * 4 / (10 * 6));
}

RC_GTEST_PROP(CoalitionDesignProperty, PairsAreDistinctComplementaryAndOfTheirStratum, ()) {
  const auto players = *rc::gen::inRange<size_t>(4, 90);
  const size_t all = players > 12 ? 3000 : (size_t{1} << (players - 1)) - 1;
  const auto pairs = *rc::gen::inRange<size_t>(players, std::min<size_t>(all, 8 * players) + 1);
  const PairDesign design =
      make_pair_design(players, pairs, *rc::gen::elementOf(kAllocations), seeded(*rc::gen::arbitrary<uint64_t>()));
  RC_ASSERT(design.pairs() == pairs);
  RC_ASSERT(design.coalitions.size() == 2 * pairs + 2);
  RC_ASSERT(size_of(design.coalitions, 0) == 0U);
  RC_ASSERT(size_of(design.coalitions, 1) == players);
  std::set<std::vector<uint64_t>> seen;
  size_t next = 0;
  for (size_t s = 0; s < design.strata.size(); s++) {
    const PairStratum& stratum = design.strata[s];
    RC_ASSERT(stratum.size == s + 1);
    RC_ASSERT(stratum.begin == next);
    RC_ASSERT(stratum.end > stratum.begin);
    RC_ASSERT(static_cast<double>(stratum.end - stratum.begin) <= stratum.population);
    next = stratum.end;
    for (size_t p = stratum.begin; p < stratum.end; p++) {
      RC_ASSERT(size_of(design.coalitions, 2 + p) == stratum.size);
      RC_ASSERT(bits_of(design.coalitions, 2 + pairs + p) == design.coalitions.complement(2 + p));
      // Of all coalitions none comes twice, so no pair does, in either order.
      RC_ASSERT(seen.insert(bits_of(design.coalitions, 2 + p)).second);
      RC_ASSERT(seen.insert(bits_of(design.coalitions, 2 + pairs + p)).second);
    }
  }
  RC_ASSERT(next == pairs);
}

TEST(CoalitionDesign, AllPairsAreEachOfThemOnce) {
  for (const size_t players : {4, 5, 6, 11}) {
    const size_t all = (size_t{1} << (players - 1)) - 1;
    const PairDesign design = make_pair_design(players, all, PairAllocation::balanced, seeded(1));
    std::set<uint64_t> seen;
    for (size_t c = 0; c < design.coalitions.size(); c++) seen.insert(design.coalitions.word(c, 0));
    EXPECT_EQ(seen.size(), size_t{1} << players);
  }
}

// Every pair of a stratum is drawn equally often: in 4,000 draws of n out of N each count is binomial around 4,000 n /
// N. Both ways to draw (anew after repeats, by number), with pairs inside one size and without.
TEST(CoalitionDesign, DrawsPairsOfAStratumEquallyOften) {
  for (const auto& [players, pairs] : {std::pair<size_t, size_t>{6, 8}, {6, 26}, {7, 9}, {7, 50}}) {
    std::map<uint64_t, int> drawn;
    const int draws = 4000;
    std::vector<PairStratum> strata;
    for (int seed = 0; seed < draws; seed++) {
      const PairDesign design =
          make_pair_design(players, pairs, PairAllocation::leverage, seeded(static_cast<uint64_t>(seed)));
      for (size_t p = 0; p < pairs; p++) drawn[design.coalitions.word(2 + p, 0)]++;
      strata = design.strata;
    }
    size_t different = 0;
    for (const PairStratum& stratum : strata) different += static_cast<size_t>(stratum.population);
    EXPECT_EQ(drawn.size(), different);
    for (const auto& [mask, count] : drawn) {
      const PairStratum& stratum = strata[static_cast<size_t>(std::popcount(mask)) - 1];
      const double share = static_cast<double>(stratum.end - stratum.begin) / stratum.population;
      EXPECT_NEAR(count, draws * share, 4.5 * std::sqrt(draws * share * (1 - share)) + 1e-9) << mask;
    }
  }
}

TEST(CoalitionDesign, HoldsForMorePlayersThanNumbersCanCount) {
  const PairDesign design = make_pair_design(2000, 2500, PairAllocation::kernel, seeded(1));
  EXPECT_EQ(design.pairs(), 2500U);
  EXPECT_TRUE(std::isinf(design.strata.back().population));
  for (const PairStratum& stratum : design.strata) EXPECT_GE(stratum.end - stratum.begin, 2U);
}

// Both ways to draw.
TEST(CoalitionDesign, StopsWhenAsked) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  EXPECT_THROW(make_pair_design(40, 100, PairAllocation::balanced, context), Error);
  EXPECT_THROW(make_pair_design(6, 31, PairAllocation::balanced, context), Error);
}

TEST(CoalitionDesign, IsAnotherForAnotherSeed) {
  const auto first_bits = [](uint64_t seed) {
    const PairDesign design = make_pair_design(40, 100, PairAllocation::balanced, seeded(seed));
    std::vector<uint64_t> bits;
    for (size_t c = 0; c < design.coalitions.size(); c++) bits.push_back(design.coalitions.word(c, 0));
    return bits;
  };
  EXPECT_EQ(first_bits(1), first_bits(1));
  EXPECT_NE(first_bits(1), first_bits(2));
}

}  // namespace
}  // namespace assay::testing

#include "assay/evaluate/subsets/subset_design.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "assay/core/error.h"
#include "assay/core/random.h"

namespace assay {
namespace {

// The players of subset s, from what is kept.
std::vector<uint32_t> removed(const SubsetDesign& design, size_t s) {
  std::vector<uint32_t> players;
  for (size_t p = 0; p < design.players(); p++) {
    if (!design.kept().contains(s, p)) players.push_back(static_cast<uint32_t>(p));
  }
  return players;
}

std::set<std::vector<uint32_t>> all_removed(const SubsetDesign& design) {
  std::set<std::vector<uint32_t>> made;
  for (size_t s = 0; s < design.size(); s++) made.insert(removed(design, s));
  return made;
}

TEST(SubsetDesign, CountsSubsets) {
  EXPECT_EQ(subset_count(14, 2), 91);
  EXPECT_EQ(subset_count(14, 7), 3432);
  EXPECT_EQ(subset_count(5, 0), 1);
  EXPECT_EQ(subset_count(5, 5), 1);
  EXPECT_EQ(subset_count(50, 25), 126410606437752.0);
  EXPECT_EQ(subset_count(5000, 2500), std::numeric_limits<double>::infinity());
}

TEST(SubsetDesign, TakesAllSubsetsWithinTheBudget) {
  for (size_t players = 1; players <= 9; players++) {
    for (size_t size = 1; size <= players; size++) {
      const SubsetDesign design = make_subsets(players, size, 126, 1, "test", {});
      EXPECT_TRUE(design.whole());
      EXPECT_EQ(static_cast<double>(design.size()), subset_count(players, size));
      const auto seen = all_removed(design);
      EXPECT_EQ(seen.size(), design.size()) << "none twice";
      for (const auto& subset : seen) EXPECT_EQ(subset.size(), size);
    }
  }
  EXPECT_EQ(make_subsets(14, 3, 4096, 10, "test", {}).description(), "all 364 subsets of 3 of 14 players");
}

TEST(SubsetDesign, StopsWhenCancelled) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  // 3432 subsets: enumerated, and drawn.
  EXPECT_THROW(make_subsets(14, 7, 4096, 50, "test", context), Error);
  EXPECT_THROW(make_subsets(14, 7, 0, 50, "test", context), Error);
}

TEST(SubsetDesign, DrawsDistinctSubsetsBeyondTheBudget) {
  // 45 subsets of 2 of 10 players: all but one of them must come without repeats, too.
  for (const size_t samples : {10, 44}) {
    const SubsetDesign design = make_subsets(10, 2, 9, samples, "test", {});
    EXPECT_FALSE(design.whole());
    EXPECT_EQ(design.size(), samples);
    EXPECT_EQ(design.population(), 45);
    EXPECT_EQ(all_removed(design).size(), samples);
  }
  EXPECT_TRUE(make_subsets(10, 2, 9, 45, "test", {}).whole());
  EXPECT_EQ(make_subsets(784, 196, 4096, 1000, "test", {}).description(), "1000 random subsets of 196 of 784 players");
}

// Over many seeds every one of the 20 subsets of 3 of 6 players comes equally often: 5 of 20 each time.
TEST(SubsetDesign, DrawsAllSubsetsAlike) {
  constexpr size_t kSeeds = 4000;
  std::map<std::vector<uint32_t>, size_t> counts;
  for (uint64_t seed = 0; seed < kSeeds; seed++) {
    Context context;
    context.seed = seed;
    for (const auto& subset : all_removed(make_subsets(6, 3, 0, 5, "test", context))) counts[subset]++;
  }
  EXPECT_EQ(counts.size(), 20U);
  // Binomial of p = 1/4: deviation sqrt(4000 * 3 / 16) = 27.
  for (const auto& [subset, count] : counts) EXPECT_NEAR(static_cast<double>(count), 1000, 5 * 27.4);
}

// Direct sums and tables, narrow and wide, against a plain loop.
TEST(SubsetDesign, SumsAttributionsOverEachSubset) {
  RandomStream random(3, "test");
  for (const size_t players : {2, 7, 8, 9, 14, 16, 17, 70, 130}) {
    for (const size_t size : {size_t{1}, players / 2, players - 1}) {
      const SubsetDesign design = make_subsets(players, size, 4000, 2500, "test", {});
      std::vector<float> values(players);
      for (float& each : values) each = static_cast<float>(random.normal());
      std::vector<double> sums(design.size(), NAN);
      std::vector<double> tables;
      design.sum(values, sums, tables);
      for (size_t s = 0; s < design.size(); s++) {
        double expected = 0;
        for (const uint32_t player : removed(design, s)) expected += values[player];
        ASSERT_NEAR(sums[s], expected, 1e-12) << size << " of " << players;
      }
    }
  }
}

TEST(SubsetDesign, TakesListsAsTheyAre) {
  const std::vector<std::vector<uint32_t>> list = {{2, 0}, {1}, {}, {0, 1, 2}};
  const SubsetDesign design = listed_subsets(3, list);
  EXPECT_FALSE(design.whole());
  EXPECT_EQ(design.largest(), 3U);
  std::vector<double> sums(4);
  std::vector<double> tables;
  design.sum(std::vector<float>{1, 10, 100}, sums, tables);
  EXPECT_EQ(sums, (std::vector<double>{101, 10, 0, 111}));
  EXPECT_EQ(removed(design, 0), (std::vector<uint32_t>{0, 2}));
  EXPECT_THROW(listed_subsets(3, std::vector<std::vector<uint32_t>>{{3}}), Error);
  EXPECT_THROW(listed_subsets(3, std::vector<std::vector<uint32_t>>{{1, 1}}), Error);
}

}  // namespace
}  // namespace assay

#include "assay/explain/trees/feature_ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace assay::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

// Branches of feature 1 with these thresholds or sets, one tree each, by every mode and both ways for the missing.
struct Branches {
  TreeSource source;

  void add(TreeMode mode, double threshold) {
    for (const bool missing : {false, true}) {
      const size_t at = source.nodes.size();
      source.nodes.resize(at + 3);
      source.nodes[at].mode = mode;
      source.nodes[at].feature = 1;
      source.nodes[at].missing_goes_true = missing;
      source.nodes[at].threshold = threshold;
      source.nodes[at].true_child = at + 1;
      source.nodes[at].false_child = at + 2;
      source.roots.push_back(at);
    }
  }
  void add_set(TreeMode mode, const std::vector<double>& set) {
    source.sets.push_back(set);
    add(mode, static_cast<double>(source.sets.size() - 1));
  }
};

std::vector<float> odd_numbers() {
  std::vector<float> made = {0,         -0.0F,     1,          2,        3,         0.5F,     1.5F,      2.5F,
                             -1,        -0.5F,     -1.5F,      0.1F,     -0.1F,     1e30F,    -1e30F,    kLargest,
                             -kLargest, kSmallest, -kSmallest, 1e-35F,   -1e-35F,   1.0e-36F, -1.0e-36F, 3e-35F,
                             -3e-35F,   16777216,  16777218,   INFINITY, -INFINITY, NAN};
  const size_t count = made.size();
  for (size_t i = 0; i < count; i++) {
    made.push_back(std::nextafter(made[i], INFINITY));
    made.push_back(std::nextafter(made[i], -INFINITY));
  }
  return made;
}

// The decision of every branch at every number, and in company of others: as the ensemble decides.
void expect_decisions_of_the_ensemble(const Branches& branches) {
  const TreeEnsemble trees("test", branches.source, 2, 1, TreeAggregate::sum, {});
  std::vector<uint32_t> nodes(trees.roots().begin(), trees.roots().end());
  ASSERT_TRUE(ranks_fit(rank_demand(trees, nodes)));
  FeatureRanks ranks(trees, nodes);
  ASSERT_EQ(ranks.columns(), 1U);
  const std::vector<float> numbers = odd_numbers();
  ASSERT_LE(numbers.size(), kRankRows);
  std::vector<std::vector<float>> rows;
  std::vector<const float*> pointers;
  for (const float x : numbers) rows.push_back({7, x});
  for (const auto& row : rows) pointers.push_back(row.data());
  std::vector<uint16_t> ranked(kRankRows);
  ranks.rank(pointers, ranked.data());
  for (const uint32_t node : nodes) {
    const TreeNode& branch = trees.nodes()[node];
    std::vector<BitTest> bit_tests;
    const RankTest test = ranks.test(branch, bit_tests);
    std::vector<uint16_t> decided(kRankRows);
    ranks.decide(bit_tests, ranked.data(), decided.data());
    const std::vector<uint16_t>& from = test.column == 0 ? ranked : decided;
    for (size_t i = 0; i < numbers.size(); i++) {
      const auto place = static_cast<uint16_t>(from[i] - test.lowest);
      const bool goes = (place <= test.width) != (test.flip != 0);
      EXPECT_EQ(goes, trees.goes_true(branch, static_cast<double>(numbers[i])))
          << "mode " << static_cast<int>(branch.mode()) << ", threshold " << branch.threshold << ", missing "
          << branch.missing_goes_true << ", x " << numbers[i];
    }
  }
}

std::vector<double> thresholds() {
  std::vector<double> made = {0,         -0.0,
                              1,         2.5,
                              0.1,       -0.1,
                              1e300,     -1e300,
                              1e-300,    -1e-300,
                              1e-35,     -1e-35,
                              kInfinity, -kInfinity,
                              NAN,       kLargest,
                              -kLargest, 16777217,
                              1e-46,     1 + 1e-12,
                              1 - 1e-12, static_cast<double>(0.1F)};
  return made;
}

TEST(FeatureRanks, ThresholdsOfDoublesDecideAsTheEnsembleDoes) {
  for (const auto mode : {TreeMode::less_equal, TreeMode::less, TreeMode::greater_equal, TreeMode::greater,
                          TreeMode::equal, TreeMode::not_equal, TreeMode::less_equal_or_zero}) {
    Branches together;
    for (const double threshold : thresholds()) {
      Branches alone;
      alone.add(mode, threshold);
      expect_decisions_of_the_ensemble(alone);
      together.add(mode, threshold);
    }
    expect_decisions_of_the_ensemble(together);
  }
}

TEST(FeatureRanks, SetsDecideAsTheEnsembleDoes) {
  Branches all;
  for (const auto mode : {TreeMode::member, TreeMode::member_whole}) {
    for (const std::vector<double>& set : {std::vector<double>{0},
                                           {1, 2},
                                           {2.5},
                                           {},
                                           {-1, 3},
                                           {0.1},
                                           {static_cast<double>(0.1F), 1},
                                           {kInfinity},
                                           {-kInfinity, 0},
                                           {16777216, 16777217},
                                           {1e300}}) {
      Branches alone;
      alone.add_set(mode, set);
      expect_decisions_of_the_ensemble(alone);
      all.add_set(mode, set);
    }
  }
  // Sets and thresholds share the cuts of their feature.
  for (const double threshold : thresholds()) all.add(TreeMode::less, threshold);
  expect_decisions_of_the_ensemble(all);
}

// Branches may share a set: what does not fit anyway is not counted to its end.
TEST(FeatureRanks, SharedSetsAreNotCountedMemberByMember) {
  Branches branches;
  std::vector<double> set(20'000);
  std::iota(set.begin(), set.end(), 0.0);
  branches.source.sets.push_back(set);
  branches.add(TreeMode::member_whole, 0);
  const auto demand = [&] {
    const TreeEnsemble trees("test", branches.source, 2, 1, TreeAggregate::sum, {});
    return rank_demand(trees, std::vector<uint32_t>(trees.roots().begin(), trees.roots().end()));
  };
  // Both sides of every member, for each of two branches: more than there are numbers.
  EXPECT_FALSE(ranks_fit(demand()));
  for (int i = 0; i < 50; i++) branches.add(TreeMode::member, 0);
  EXPECT_FALSE(ranks_fit(demand()));
  EXPECT_LE(demand().cuts, 65'000U + 40'000U);
  branches.source.sets[0].resize(300);
  EXPECT_EQ(demand().cuts, 102U * 600U);
  EXPECT_TRUE(ranks_fit(demand()));
}

TEST(FeatureRanks, MoreCutsThanSixteenBitsHoldDoNotFit) {
  EXPECT_TRUE(ranks_fit({.cuts = 65'000, .bit_tests = 10}));
  EXPECT_FALSE(ranks_fit({.cuts = 65'536, .bit_tests = 0}));
  // 64 MiB are 2^29 bits.
  EXPECT_TRUE(ranks_fit({.cuts = 60'000, .bit_tests = 8'000}));
  EXPECT_FALSE(ranks_fit({.cuts = 60'000, .bit_tests = 9'000}));
}

}  // namespace
}  // namespace assay::testing

#include "assay/model/trees/double_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "assay/model/trees/float_threshold.h"

namespace assay::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A tree for each branch: its test, and two leaves.
TreeEnsemble branches(const std::vector<std::pair<TreeMode, double>>& tests, std::vector<std::vector<double>> sets = {},
                      bool missing_true = false) {
  TreeSource source;
  source.weights.resize(2 * tests.size());
  source.sets = std::move(sets);
  for (const auto& [mode, threshold] : tests) {
    const size_t at = source.nodes.size();
    source.roots.push_back(at);
    TreeSource::Node node;
    node.mode = mode;
    node.threshold = threshold;
    node.missing_goes_true = missing_true;
    node.true_child = at + 1;
    node.false_child = at + 2;
    source.nodes.push_back(node);
    for (size_t side = 0; side < 2; side++) {
      TreeSource::Node leaf;
      leaf.first_weight = 2 * (source.roots.size() - 1) + side;
      leaf.weight_count = 1;
      source.nodes.push_back(leaf);
    }
  }
  return {"a test", source, 1, 1, TreeAggregate::sum, {}};
}

bool decide_alike(const TreeEnsemble& trees, double a, double b) {
  for (const TreeNode& node : trees.nodes()) {
    if (!node.is_leaf() && trees.goes_true(node, a) != trees.goes_true(node, b)) return false;
  }
  return true;
}

std::optional<float> stand_in(const TreeEnsemble& trees, double cell) {
  return DoubleCells(trees).stand_in(0, cell, static_cast<float>(cell));
}

// The neighbours of 1 in float32 are 1 - 2^-24 and 1 + 2^-23.
TEST(DoubleCells, ACellKeepsItsSideOfAThreshold) {
  const double t = 1 + 0x1p-30;
  const TreeEnsemble trees = branches({{TreeMode::less_equal, t}});
  EXPECT_EQ(stand_in(trees, t), 1.0F);
  EXPECT_EQ(stand_in(trees, 1), 1.0F);
  // It rounds to 1, which is not above the threshold.
  EXPECT_EQ(stand_in(trees, std::nextafter(t, 2)), 1 + 0x1p-23F);
  EXPECT_EQ(stand_in(trees, 1 + 0x1p-23), 1 + 0x1p-23F);
  // Below the threshold, where it rounds to the number above.
  const double high = 1 + 0x1.8p-24;
  EXPECT_EQ(static_cast<float>(high), 1 + 0x1p-23F);
  EXPECT_EQ(stand_in(branches({{TreeMode::less, 1 + 0x1.9p-24}}), high), 1.0F);
}

TEST(DoubleCells, TwoThresholdsBetweenNeighboursLeaveNoNumber) {
  const TreeEnsemble trees = branches({{TreeMode::less_equal, 100000000.5}, {TreeMode::less_equal, 100000001.5}});
  EXPECT_EQ(stand_in(trees, 100000000), 100000000.0F);
  EXPECT_EQ(stand_in(trees, 100000001), std::nullopt);
  EXPECT_EQ(stand_in(trees, 100000002), 100000008.0F);
  EXPECT_EQ(DoubleCells(trees).why_none(0, 100000001),
            "no float32 number, which cells are kept as, lies with 100000001 between the model's thresholds "
            "100000000.5 and 100000001.5");
}

TEST(DoubleCells, MissingAndUntestedCellsStay) {
  EXPECT_TRUE(std::isnan(*stand_in(branches({{TreeMode::less_equal, 0.5}}), std::nan(""))));
  TreeSource source;
  source.nodes.resize(1);
  source.roots = {0};
  EXPECT_EQ(DoubleCells({"a test", source, 2, 1, TreeAggregate::sum, {}}).stand_in(1, 0.1, 0.1F), 0.1F);
}

// All modes, with thresholds and cells in each other's way: what is found decides alike at every branch, and where
// nothing is found no float32 number near the cell does.
TEST(DoubleCells, AgreeWithEveryBranch) {
  std::mt19937_64 random(7);
  const auto below = [&](uint64_t n) { return random() % n; };
  size_t moved = 0, none = 0, kept = 0;
  for (size_t round = 0; round < 3000; round++) {
    // Places where doubles lie dense: ordinary numbers, identifiers, times, whole numbers, nothing at all.
    const double places[] = {0.1, 1, -3.5, 100000001, 1.7e12, 3, kTreeZero, -kTreeZero, 0, 1e-300, 5e-45};
    const double centre = places[below(std::size(places))];
    const auto near = [&] {
      const auto step = static_cast<double>(static_cast<int64_t>(below(9)) - 4);
      const double scale = std::ldexp(1, -static_cast<int>(below(3)) * 8);
      const double ulp = std::nextafter(std::abs(static_cast<float>(centre)), std::numeric_limits<float>::infinity()) -
                         std::abs(static_cast<float>(centre));
      const double far = centre + step * scale * ulp / 2;
      return below(2) == 0 ? std::nextafter(far, below(2) == 0 ? kInfinity : -kInfinity) : far;
    };
    std::vector<std::vector<double>> sets;
    std::vector<std::pair<TreeMode, double>> tests;
    for (size_t i = below(4) + 1; i > 0; i--) {
      const auto mode = static_cast<TreeMode>(below(kTreeModes));
      if (mode == TreeMode::leaf) continue;
      if (!has_set(mode)) {
        tests.emplace_back(mode, near());
        continue;
      }
      tests.emplace_back(mode, static_cast<double>(sets.size()));
      sets.push_back(mode == TreeMode::member ? std::vector<double>{near(), near()} : std::vector<double>{2, 3});
    }
    if (tests.empty()) continue;
    const TreeEnsemble trees = branches(tests, sets, below(2) == 0);
    const DoubleCells cells(trees);
    for (size_t i = 0; i < 20; i++) {
      const double cell = near();
      const auto nearest = static_cast<float>(cell);
      const std::optional<float> found = cells.stand_in(0, cell, nearest);
      if (found) {
        ASSERT_TRUE(decide_alike(trees, cell, static_cast<double>(*found))) << cell << " as " << *found;
        (*found == nearest ? kept : moved)++;
        continue;
      }
      // Where branches test order alone, neither neighbour decides alike.
      if (!std::ranges::all_of(tests, [](const auto& test) { return tests_order(test.first); })) continue;
      none++;
      const float low = float_at_most(cell);
      EXPECT_FALSE(decide_alike(trees, cell, static_cast<double>(low))) << cell << " as " << low;
      const float high = std::nextafter(low, std::numeric_limits<float>::infinity());
      EXPECT_FALSE(decide_alike(trees, cell, static_cast<double>(high))) << cell << " as " << high;
    }
  }
  // It was put to the test.
  EXPECT_GT(moved, 1000U);
  EXPECT_GT(none, 100U);
  EXPECT_GT(kept, 1000U);
}

}  // namespace
}  // namespace assay::testing

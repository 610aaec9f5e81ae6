#include "assay/explain/trees/path_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "assay/core/vector_target.h"
#include "tests/explain/trees/random_trees.h"

namespace assay {
namespace {

using namespace assay::testing;

std::vector<uint32_t> all_roots(const TreeEnsemble& trees) {
  std::vector<uint32_t> roots(trees.roots().size());
  std::iota(roots.begin(), roots.end(), 0U);
  return roots;
}

std::vector<double> walked(const PathWalk& walk, const Players& players, std::span<const float> row, size_t target) {
  PathWalk::Scratch scratch;
  std::vector<double> phi(players.size());
  walk.add(row, target, phi, scratch);
  return phi;
}

// Relative to the largest value of the game.
void expect_equal(const std::vector<double>& phi, const std::vector<long double>& values) {
  const std::vector<double> want = shapley_of_values(values);
  double scale = 1;
  for (const long double value : values) scale = std::max(scale, std::abs(static_cast<double>(value)));
  ASSERT_EQ(phi.size(), want.size());
  for (size_t p = 0; p < want.size(); p++) EXPECT_NEAR(phi[p], want[p], 1e-13 * scale) << p;
}

// A chain of branches on columns 0, 1, ... and again: x <= 0 goes on, with this part of the cover; else it ends. The
// leaves have weights 1, 2, ..., the last one the most, or only the last has one.
TreeSource chain(size_t depth, size_t features, double part, bool last_alone) {
  TreeSource source;
  source.nodes.resize(2 * depth + 1);
  double cover = 1;
  for (size_t i = 0; i < depth; i++) {
    TreeSource::Node& node = source.nodes[2 * i];
    node.mode = TreeMode::less_equal;
    node.feature = static_cast<int64_t>(i % features);
    node.true_child = 2 * i + 2;
    node.false_child = 2 * i + 1;
    node.cover = cover;
    source.nodes[2 * i + 1].cover = cover * (1 - part);
    source.nodes[2 * i + 1].first_weight = i;
    source.nodes[2 * i + 1].weight_count = last_alone ? 0 : 1;
    source.weights.push_back({0, static_cast<double>(i + 1)});
    cover *= part;
  }
  source.nodes[2 * depth].cover = cover;
  source.nodes[2 * depth].first_weight = depth;
  source.nodes[2 * depth].weight_count = 1;
  source.weights.push_back({0, static_cast<double>(depth + 1)});
  source.roots = {0};
  return source;
}

// By hand: x0 <= 0 ? 1 : (x1 <= 0 ? 2 : 6), of 8 training rows 2 on the left and, on the right, 3 and 3; the row is
// (1, 1). v() = 2/8 * 1 + 6/8 * 4 = 3.25, v(0) = 4, v(1) = 2/8 * 1 + 6/8 * 6 = 4.75, v(01) = 6:
// phi_0 = ((4 - 3.25) + (6 - 4.75)) / 2 = 1, phi_1 = ((4.75 - 3.25) + (6 - 4)) / 2 = 1.75.
TEST(PathWalk, IsTheExampleByHand) {
  TreeSource source;
  source.nodes.resize(5);
  source.nodes[0] = {TreeMode::less_equal, false, 0, 0.0, 1, 2};
  source.nodes[2] = {TreeMode::less_equal, false, 1, 0.0, 3, 4};
  source.weights = {{0, 1.0}, {0, 2.0}, {0, 6.0}};
  const double covers[] = {8, 2, 6, 3, 3};
  for (size_t i = 0; i < 5; i++) source.nodes[i].cover = covers[i];
  for (size_t leaf = 0; leaf < 3; leaf++) {
    TreeSource::Node& node = source.nodes[leaf == 0 ? 1 : leaf + 2];
    node.first_weight = leaf;
    node.weight_count = 1;
  }
  source.roots = {0};
  const TreeEnsemble trees("example", source, 2, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(2);
  const PathWalk walk(trees, {0}, players);
  const float row[] = {1, 1};
  const std::vector<double> phi = walked(walk, players, row, 0);
  EXPECT_NEAR(phi[0], 1, 1e-15);
  EXPECT_NEAR(phi[1], 1.75, 1e-15);
  EXPECT_DOUBLE_EQ(walk.base(0), 3.25);
}

// All modes, missing values, groups, features that come again on a path, nodes without cover, several targets with and
// without weights.
TEST(PathWalk, IsBruteForceOnRandomTrees) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    RandomStream random(seed, "path_walk_test");
    RandomTreeOptions options;
    options.features = 1 + random.below(9);
    options.trees = 1 + random.below(4);
    options.depth = random.below(9);
    options.targets = 1 + random.below(3);
    const TreeSource source = random_tree_source(random, options);
    const TreeAggregate aggregate = random.below(2) == 0 ? TreeAggregate::sum : TreeAggregate::average;
    const TreeEnsemble trees("random", source, options.features, options.targets, aggregate, {});
    const size_t groups = 1 + random.below(5);
    const Players players = random.below(2) == 0 ? tree_column_players(options.features)
                                                 : random_tree_players(random, options.features, groups);
    const Matrix rows = random_tree_rows(random, 3, options.features);
    const PathWalk walk(trees, all_roots(trees), players);
    for (size_t i = 0; i < rows.rows(); i++) {
      for (size_t target = 0; target < options.targets; target++) {
        const auto values = cover_values(source, players, rows.row(i), target, trees.tree_share());
        expect_equal(walked(walk, players, rows.row(i), target), values);
        EXPECT_NEAR(walk.base(target), static_cast<double>(values[0]), 1e-13);
      }
    }
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

// Covers as some libraries write them: those of two children are not their parent's.
TEST(PathWalk, TakesCoversAsTheyAre) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    RandomStream random(seed, "path_walk_test covers");
    TreeSource source = random_tree_source(random, {});
    for (TreeSource::Node& node : source.nodes) node.cover = std::floor(node.cover * (0.9 + 0.2 * random.uniform()));
    const TreeEnsemble trees("random", source, 6, 1, TreeAggregate::sum, {});
    const Players players = tree_column_players(6);
    const Matrix row = random_tree_rows(random, 1, 6);
    const PathWalk walk(trees, all_roots(trees), players);
    expect_equal(walked(walk, players, row.row(0), 0), cover_values(source, players, row.row(0), 0));
  }
}

// More than 16 players on a path take a second step of 8 points; brute force over 2^18 coalitions of a chain.
TEST(PathWalk, TakesMorePointsForMorePlayers) {
  const size_t features = 18;
  const TreeSource source = chain(40, features, 0.75, false);
  const TreeEnsemble trees("chain", source, features, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(features);
  std::vector<float> row(features);
  row[3] = row[11] = 1;
  expect_equal(walked(PathWalk(trees, {0}, players), players, row, 0), cover_values(source, players, row, 0));
}

// 60 branches of 6 players: r of 0.2^10 each. Every path down the chain is a product of up to six factors.
TEST(PathWalk, LosesNothingInDeepTrees) {
  for (const double part : {0.2, 0.5, 0.999}) {
    const TreeSource source = chain(60, 6, part, false);
    const TreeEnsemble trees("chain", source, 6, 1, TreeAggregate::sum, {});
    const Players players = tree_column_players(6);
    for (const size_t failed : {size_t{0}, size_t{1}, size_t{37}}) {
      std::vector<float> row(6);
      for (size_t c = 0; c < 6; c++) row[c] = (failed >> c & 1) != 0 ? 1.0F : 0.0F;
      const std::vector<double> want = shapley_of_values(cover_values(source, players, row, 0));
      const std::vector<double> phi = walked(PathWalk(trees, {0}, players), players, row, 0);
      for (size_t c = 0; c < 6; c++) EXPECT_NEAR(phi[c], want[c], std::abs(want[c]) * 1e-13) << part << ", " << c;
    }
  }
}

// One leaf of weight 1 behind `failing` players that the row fails, with r = 1, and a others with r = part. With
// I(a, b) = integral of (1 - t)^b (part + (1 - part) t)^a, each of the others gets (1 - part) I(a - 1, failing) and
// each of the failing ones -I(a, failing - 1). By parts, I(a, b) = (part^a + a (1 - part) I(a - 1, b + 1)) / (b + 1).
TEST(PathWalk, IsExactForManyPlayersOnAPath) {
  struct Case {
    size_t others;
    size_t failing;
    double part;
  };
  for (const auto& [others, failing, part] : std::vector<Case>{{9, 8, 1e-3},
                                                               {10, 9, 1e-3},
                                                               {25, 25, 1e-3},
                                                               {100, 100, 0.01},
                                                               {150, 50, 0.02},
                                                               {40, 0, 0.5},
                                                               {39, 1, 0.5},
                                                               {79, 2, 0.25},
                                                               {80, 2, 0.25},
                                                               {50, 50, 0.25},
                                                               {400, 3, 0.5},
                                                               {3, 400, 0.5},
                                                               {200, 200, 0.5},
                                                               {2000, 0, 0.9},
                                                               {1990, 10, 0.9}}) {
    const auto integral = [part](size_t a, size_t b) {
      // From I(0, a + b) on: all terms are positive.
      const auto r = static_cast<long double>(part);
      long double value = 0;
      for (size_t i = 0; i <= a; i++) {
        const auto raised = static_cast<long double>(i);
        value = (std::pow(r, raised) + raised * (1 - r) * value) / static_cast<long double>(a + b - i + 1);
      }
      return static_cast<double>(value);
    };
    const size_t players_on_path = others + failing;
    TreeSource source = chain(players_on_path, players_on_path, part, true);
    source.weights.back().value = 1;
    double cover = 1;
    for (size_t i = 0; i < players_on_path; i++) {
      source.nodes[2 * i].cover = cover;
      const double next = i < failing ? cover : cover * part;
      source.nodes[2 * i + 1].cover = cover - next;
      cover = next;
    }
    source.nodes.back().cover = cover;
    const TreeEnsemble trees("chain", source, players_on_path, 1, TreeAggregate::sum, {});
    const Players players = tree_column_players(players_on_path);
    std::vector<float> row(players_on_path);
    std::fill_n(row.begin(), failing, 1.0F);
    const std::vector<double> phi = walked(PathWalk(trees, {0}, players), players, row, 0);
    const double gain = (1 - part) * integral(others - 1, failing);
    const double loss = failing == 0 ? 0 : -integral(others, failing - 1);
    for (size_t c = 0; c < players_on_path; c++) {
      const double want = c < failing ? loss : gain;
      ASSERT_NEAR(phi[c], want, std::abs(want) * 1e-12) << others << ", " << failing << ", column " << c;
    }
  }
}

// More branches than a stack has room for. Only the last leaf counts, so v(S) is the product of the absent players' r.
TEST(PathWalk, WalksChainsWithoutRecursion) {
  const size_t depth = 200'001;
  const double part = 1 - 1e-5;
  TreeSource source = chain(depth, 3, part, true);
  source.weights.back().value = 1;
  const TreeEnsemble trees("chain", source, 3, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(3);
  std::vector<long double> values(8);
  for (size_t present = 0; present < 8; present++) {
    const auto absent = static_cast<long double>(3 - std::popcount(present));
    values[present] = std::pow(static_cast<long double>(part), absent * static_cast<long double>(depth / 3));
  }
  const PathWalk walk(trees, {0}, players);
  const std::vector<double> want = shapley_of_values(values);
  const std::vector<float> row(3);
  const std::vector<double> phi = walked(walk, players, row, 0);
  for (size_t p = 0; p < 3; p++) EXPECT_NEAR(phi[p], want[p], 1e-10);  // 200,001 roundings
  EXPECT_NEAR(walk.base(0), static_cast<double>(values[0]), 1e-10);
}

TEST(PathWalk, ServesOnlyItsTreesAndAdds) {
  RandomStream random(2, "path_walk_test roots");
  RandomTreeOptions options;
  options.trees = 6;
  options.targets = 2;
  const TreeSource source = random_tree_source(random, options);
  const TreeEnsemble trees("random", source, options.features, 2, TreeAggregate::average, {});
  const Players players = tree_column_players(options.features);
  const Matrix rows = random_tree_rows(random, 2, options.features);
  TreeSource some = source;
  some.roots = {source.roots[1], source.roots[5], source.roots[2]};
  const PathWalk walk(trees, {1, 5, 2}, players);
  PathWalk::Scratch scratch;
  for (size_t target = 0; target < 2; target++) {
    for (size_t i = 0; i < rows.rows(); i++) {
      const auto values = cover_values(some, players, rows.row(i), target, 1.0 / 6);
      std::vector<double> phi(players.size());
      walk.add(rows.row(i), target, phi, scratch);
      expect_equal(phi, values);
      const std::vector<double> once = phi;
      walk.add(rows.row(i), target, phi, scratch);
      for (size_t p = 0; p < phi.size(); p++) EXPECT_EQ(phi[p], 2 * once[p]);
      EXPECT_NEAR(walk.base(target), static_cast<double>(values[0]), 1e-14);
    }
  }
}

TEST(PathWalk, IsTheSameOnAllVectorTargets) {
  RandomStream random(4, "path_walk_test targets");
  RandomTreeOptions options;
  options.features = 20;
  options.depth = 11;
  const TreeSource source = random_tree_source(random, options);
  const TreeEnsemble trees("random", source, options.features, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(options.features);
  const Matrix row = random_tree_rows(random, 1, options.features);
  const PathWalk walk(trees, all_roots(trees), players);
  const std::string before = vector_target();
  const std::vector<double> want = walked(walk, players, row.row(0), 0);
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    EXPECT_EQ(walked(walk, players, row.row(0), 0), want) << target;
  }
  pin_vector_target(before);
}

// As one by one, to the last bit, whatever rows are beside.
TEST(PathWalk, TakesRowsTogether) {
  RandomStream random(5, "path_walk_test rows");
  RandomTreeOptions options;
  options.trees = 5;
  options.targets = 2;
  const TreeSource source = random_tree_source(random, options);
  const TreeEnsemble trees("random", source, options.features, 2, TreeAggregate::average, {});
  const Players players = random_tree_players(random, options.features, 4);
  const PathWalk walk(trees, all_roots(trees), players);
  const Matrix rows = random_tree_rows(random, 7, options.features);
  std::vector<const float*> pointers;
  for (size_t i = 0; i < rows.rows(); i++) pointers.push_back(rows.row(i).data());
  PathWalk::Scratch scratch;
  for (size_t target = 0; target < 2; target++) {
    std::vector<double> phi(rows.rows() * 9);
    walk.add_rows(pointers, target, MatrixView<double>(phi.data(), rows.rows(), players.size(), 9), scratch);
    for (size_t i = 0; i < rows.rows(); i++) {
      std::vector<double> want = walked(walk, players, rows.row(i), target);
      want.resize(9);
      EXPECT_EQ(std::vector<double>(phi.begin() + i * 9, phi.begin() + i * 9 + 9), want) << i;
    }
  }
}

}  // namespace
}  // namespace assay

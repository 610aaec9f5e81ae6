#include "assay/explain/trees/interventional_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/explain/trees/random_trees.h"

namespace assay {
namespace {

using namespace assay::testing;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<uint32_t> all_roots(const TreeEnsemble& trees) {
  std::vector<uint32_t> roots(trees.roots().size());
  std::iota(roots.begin(), roots.end(), 0U);
  return roots;
}

std::vector<double> walked(const InterventionalWalk& walk, const Players& players, std::span<const float> row,
                           size_t target) {
  InterventionalWalk::Scratch scratch;
  std::vector<double> phi(players.size());
  walk.add(row, target, phi, scratch);
  return phi;
}

// Relative to the largest value of the game.
void expect_equal(const std::vector<double>& phi, const std::vector<double>& want, double scale) {
  ASSERT_EQ(phi.size(), want.size());
  for (size_t p = 0; p < want.size(); p++) EXPECT_NEAR(phi[p], want[p], 1e-13 * std::max(scale, 1.0)) << p;
}

double largest(const std::vector<long double>& values) {
  double most = 0;
  for (const long double value : values) most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

// By hand: one tree, x0 <= 0 ? 1 : (x1 <= 0 ? 2 : 6), the row (1, 1) against (-1, -1) and (1, -1).
// First reference: v() = 1, v(0) = 2, v(1) = 1, v(01) = 6: phi_0 = ((2 - 1) + (6 - 1)) / 2 = 3, phi_1 = 2.
// Second: v() = v(0) = 2, v(1) = v(01) = 6: phi_0 = 0, phi_1 = 4. Means: 1.5 and 3.
TEST(InterventionalWalk, IsTheExampleByHand) {
  TreeSource source;
  source.nodes.resize(5);
  source.nodes[0] = {TreeMode::less_equal, false, 0, 0.0, 1, 2};
  source.nodes[2] = {TreeMode::less_equal, false, 1, 0.0, 3, 4};
  source.weights = {{0, 1.0}, {0, 2.0}, {0, 6.0}};
  for (size_t leaf = 0; leaf < 3; leaf++) {
    TreeSource::Node& node = source.nodes[leaf == 0 ? 1 : leaf + 2];
    node.first_weight = leaf;
    node.weight_count = 1;
  }
  source.roots = {0};
  const TreeEnsemble trees("example", source, 2, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(2);
  Matrix references(2, 2);
  const float values[] = {-1, -1, 1, -1};
  std::copy(std::begin(values), std::end(values), references.data());
  const InterventionalWalk walk(trees, {0}, players, references.view());
  const float row[] = {1, 1};
  const std::vector<double> phi = walked(walk, players, row, 0);
  EXPECT_DOUBLE_EQ(phi[0], 1.5);
  EXPECT_DOUBLE_EQ(phi[1], 3.0);
}

// All modes, missing values in rows and references, groups, features that come again on a path, several targets with
// and without weights.
TEST(InterventionalWalk, IsBruteForceOnRandomTrees) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    RandomStream random(seed, "interventional_walk_test");
    RandomTreeOptions options;
    options.features = 1 + random.below(8);
    options.trees = 1 + random.below(4);
    options.depth = random.below(9);
    options.targets = 1 + random.below(3);
    const TreeSource source = random_tree_source(random, options);
    const TreeAggregate aggregate = random.below(2) == 0 ? TreeAggregate::sum : TreeAggregate::average;
    const TreeEnsemble trees("random", source, options.features, options.targets, aggregate, {});
    const size_t groups = 1 + random.below(5);
    const Players players = random.below(2) == 0 ? tree_column_players(options.features)
                                                 : random_tree_players(random, options.features, groups);
    const Matrix references = random_tree_rows(random, 1 + random.below(12), options.features);
    const Matrix rows = random_tree_rows(random, 2, options.features);
    const InterventionalWalk walk(trees, all_roots(trees), players, references.view());
    for (size_t i = 0; i < rows.rows(); i++) {
      for (size_t target = 0; target < options.targets; target++) {
        const auto values =
            interventional_values(source, players, references.view(), rows.row(i), target, trees.tree_share());
        expect_equal(walked(walk, players, rows.row(i), target), shapley_of_values(values), largest(values));
      }
    }
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

// One, two and four words of bits, and several walks: values are the mean of those for each reference alone.
TEST(InterventionalWalk, AveragesAnyNumberOfReferences) {
  RandomStream random(1, "interventional_walk_test references");
  RandomTreeOptions options;
  options.features = 7;
  options.depth = 7;
  const TreeSource source = random_tree_source(random, options);
  const TreeEnsemble trees("random", source, options.features, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(options.features);
  const Matrix all = random_tree_rows(random, 700, options.features);
  const Matrix row = random_tree_rows(random, 1, options.features);
  std::vector<double> sums(players.size());
  std::vector<size_t> counts = {1, 63, 64, 65, 127, 128, 129, 192, 200, 255, 256, 257, 512, 513, 700};
  for (size_t n = 1; n <= all.rows(); n++) {
    const InterventionalWalk one(trees, all_roots(trees), players, all.view().rows_between(n - 1, n));
    const std::vector<double> phi = walked(one, players, row.row(0), 0);
    for (size_t p = 0; p < sums.size(); p++) sums[p] += phi[p];
    if (std::ranges::find(counts, n) == counts.end()) continue;
    const InterventionalWalk walk(trees, all_roots(trees), players, all.view().rows_between(0, n));
    std::vector<double> want = sums;
    for (double& each : want) each /= static_cast<double>(n);
    expect_equal(walked(walk, players, row.row(0), 0), want, 1);
  }
}

TEST(InterventionalWalk, ServesOnlyItsTreesAndAdds) {
  RandomStream random(2, "interventional_walk_test roots");
  RandomTreeOptions options;
  options.trees = 6;
  options.targets = 2;
  const TreeSource source = random_tree_source(random, options);
  const TreeEnsemble trees("random", source, options.features, 2, TreeAggregate::average, {});
  const Players players = tree_column_players(options.features);
  const Matrix references = random_tree_rows(random, 5, options.features);
  const Matrix row = random_tree_rows(random, 1, options.features);
  TreeSource some = source;
  some.roots = {source.roots[1], source.roots[5], source.roots[2]};
  const InterventionalWalk walk(trees, {1, 5, 2}, players, references.view());
  InterventionalWalk::Scratch scratch;
  for (size_t target = 0; target < 2; target++) {
    std::vector<double> phi(players.size(), 100);
    walk.add(row.row(0), target, phi, scratch);
    for (double& each : phi) each -= 100;
    const auto values = interventional_values(some, players, references.view(), row.row(0), target, 1.0 / 6);
    expect_equal(phi, shapley_of_values(values), 100);
  }
}

// A chain where every branch tests the next of the columns: x <= 0 goes on, else it ends at a leaf of its own.
TreeSource chain(size_t depth, size_t features, double last) {
  TreeSource source;
  source.nodes.resize(2 * depth + 1);
  for (size_t i = 0; i < depth; i++) {
    TreeSource::Node& node = source.nodes[2 * i];
    node.mode = TreeMode::less_equal;
    node.feature = static_cast<int64_t>(i % features);
    node.true_child = 2 * i + 2;
    node.false_child = 2 * i + 1;
  }
  source.nodes[2 * depth].weight_count = 1;
  source.weights = {{0, last}};
  source.roots = {0};
  return source;
}

// x satisfies all of k columns, the first m of them the reference does not: these share the leaf's weight. Two columns
// that only the reference satisfies stand before, so that the leaf is reached without them alone: with a = m and b = 2
// each of the m gets (a - 1)! b! / (a + b)! = 2 / (m (m + 1) (m + 2)), each of the two
// -m! / (m + 2)! = -1 / ((m + 1) (m + 2)).
TEST(InterventionalWalk, IsExactForThousandsOfPlayers) {
  const size_t features = 3002;
  const TreeEnsemble trees("chain", chain(features, features, 7.0), features, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(features);
  for (const size_t m : {size_t{5}, size_t{120}, size_t{127}, size_t{300}, size_t{3000}}) {
    std::vector<float> row(features, 0);
    Matrix reference(1, features);
    row[0] = row[1] = 1;
    for (size_t c = 2; c < m + 2; c++) reference(0, c) = 1;
    const InterventionalWalk walk(trees, {0}, players, reference.view());
    const std::vector<double> phi = walked(walk, players, row, 0);
    // The row and the reference in each other's place: all values change their signs.
    const InterventionalWalk back(trees, {0}, players, MatrixView<const float>(row.data(), 1, features));
    const std::vector<double> negative = walked(back, players, reference.row(0), 0);
    const auto a = static_cast<double>(m);
    const double gain = 7 * 2 / (a * (a + 1) * (a + 2));
    const double loss = -7 / ((a + 1) * (a + 2));
    for (size_t c = 0; c < features; c++) {
      const double want = c < 2 ? loss : c < m + 2 ? gain : 0;
      ASSERT_NEAR(phi[c], want, std::abs(want) * 1e-12) << m << ", column " << c;
      ASSERT_NEAR(negative[c], -want, std::abs(want) * 1e-12) << m << ", column " << c;
    }
  }
}

// 200,000 branches in a row would take more stack than there is. Columns repeat; each player's last condition decides,
// so the values are those of a product of three.
TEST(InterventionalWalk, WalksChainsWithoutRecursion) {
  const size_t depth = 200'000;
  const TreeEnsemble trees("chain", chain(depth, 3, 6.0), 3, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(3);
  Matrix references(2, 3);
  const float values[] = {1, 1, kNan, 0, 1, 0};
  std::copy(std::begin(values), std::end(values), references.data());
  const InterventionalWalk walk(trees, {0}, players, references.view());
  const float row[] = {0, 0, 0};
  const std::vector<double> phi = walked(walk, players, row, 0);
  // First reference: 2 each; second: all to column 1.
  EXPECT_NEAR(phi[0], 1, 1e-14);
  EXPECT_NEAR(phi[1], 4, 1e-14);
  EXPECT_NEAR(phi[2], 1, 1e-14);
}

// Thresholds fall from branch to branch, so that references leave a long chain one by one.
TEST(InterventionalWalk, FollowsReferencesThatLeaveAChain) {
  const size_t depth = 20'000;
  TreeSource source = chain(depth, 1, 0.0);
  source.weights.clear();
  for (size_t i = 0; i <= depth; i++) {
    source.nodes[2 * i].threshold = static_cast<double>(depth - i);
    TreeSource::Node& leaf = source.nodes[i == depth ? 2 * depth : 2 * i + 1];
    leaf.first_weight = source.weights.size();
    leaf.weight_count = 1;
    source.weights.push_back({0, static_cast<double>(i)});
  }
  const TreeEnsemble trees("chain", source, 1, 1, TreeAggregate::sum, {});
  const Players players = tree_column_players(1);
  Matrix references(200, 1);
  double mean = 0;
  for (size_t r = 0; r < 200; r++) {
    references(r, 0) = static_cast<float>(r * 100) + 0.5F;
    mean += static_cast<double>(source_score(source, references.row(r), 0)) / 200;
  }
  const InterventionalWalk walk(trees, {0}, players, references.view());
  const float row[] = {-1};
  EXPECT_NEAR(walked(walk, players, row, 0)[0], static_cast<double>(depth) - mean, 1e-9);
}

TEST(InterventionalWalk, ScratchGoesFromWalkToWalk) {
  RandomStream random(3, "interventional_walk_test scratch");
  InterventionalWalk::Scratch scratch;
  for (size_t features = 9; features > 1; features -= 2) {
    RandomTreeOptions options;
    options.features = features;
    const TreeSource source = random_tree_source(random, options);
    const TreeEnsemble trees("random", source, features, 1, TreeAggregate::sum, {});
    const Players players = tree_column_players(features);
    const Matrix references = random_tree_rows(random, features * 20, features);
    const Matrix rows = random_tree_rows(random, 3, features);
    const InterventionalWalk walk(trees, all_roots(trees), players, references.view());
    for (size_t i = 0; i < rows.rows(); i++) {
      std::vector<double> phi(features);
      walk.add(rows.row(i), 0, phi, scratch);
      EXPECT_EQ(phi, walked(walk, players, rows.row(i), 0));
    }
  }
}

// Doubles that are no float32 numbers, and rows on both sides of them: one branch, so the value is f(x) - mean f(r).
TEST(InterventionalWalk, ComparesWithDoubles) {
  const float tenth = 0.1F;
  const float infinity = std::numeric_limits<float>::infinity();
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  std::vector<float> xs = {tenth,
                           std::nextafter(tenth, 1.0F),
                           std::nextafter(tenth, 0.0F),
                           0.0F,
                           -0.0F,
                           most,
                           -most,
                           infinity,
                           -infinity,
                           least,
                           -least,
                           kNan};
  const auto wide = static_cast<double>(tenth);
  const double thresholds[] = {0.1,
                               wide,
                               std::nextafter(wide, 1.0),
                               std::nextafter(wide, 0.0),
                               0.0,
                               1e300,
                               -1e300,
                               1e-50,
                               -1e-50,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               static_cast<double>(most)};
  const Players players = tree_column_players(1);
  const MatrixView<const float> references(xs.data(), xs.size(), 1);
  for (const double threshold : thresholds) {
    for (const TreeMode mode : {TreeMode::less, TreeMode::less_equal, TreeMode::greater, TreeMode::greater_equal}) {
      TreeSource source = chain(1, 1, 1.0);
      source.nodes[0].mode = mode;
      source.nodes[0].threshold = threshold;
      source.nodes[0].missing_goes_true = threshold > 0;
      const TreeEnsemble trees("branch", source, 1, 1, TreeAggregate::sum, {});
      const InterventionalWalk walk(trees, {0}, players, references);
      long double mean = 0;
      for (size_t r = 0; r < xs.size(); r++) mean += source_score(source, references.row(r), 0) / xs.size();
      for (const float& x : xs) {
        const auto want = static_cast<double>(source_score(source, {&x, 1}, 0) - mean);
        EXPECT_NEAR(walked(walk, players, {&x, 1}, 0)[0], want, 1e-15) << threshold << ", " << x;
      }
    }
  }
}

// As one by one, to the last bit, whatever rows are beside.
TEST(InterventionalWalk, TakesRowsTogether) {
  RandomStream random(5, "interventional_walk_test rows");
  RandomTreeOptions options;
  options.trees = 5;
  options.targets = 2;
  const TreeSource source = random_tree_source(random, options);
  const TreeEnsemble trees("random", source, options.features, 2, TreeAggregate::average, {});
  const Players players = random_tree_players(random, options.features, 4);
  const Matrix references = random_tree_rows(random, 300, options.features);
  const InterventionalWalk walk(trees, all_roots(trees), players, references.view());
  const Matrix rows = random_tree_rows(random, 7, options.features);
  std::vector<const float*> pointers;
  for (size_t i = 0; i < rows.rows(); i++) pointers.push_back(rows.row(i).data());
  InterventionalWalk::Scratch scratch;
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

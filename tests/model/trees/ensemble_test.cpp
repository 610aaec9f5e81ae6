// The ensemble against a walk through the trees as they were described, one row and one node at a time.
#include "assay/model/trees/ensemble.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <functional>

#include "assay/core/random.h"

namespace assay {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

struct Described {
  TreeSource source;
  size_t features = 1;
  size_t targets = 1;
  TreeAggregate aggregate = TreeAggregate::sum;
  std::vector<double> base = {};

  TreeEnsemble made() const { return {"test", source, features, targets, aggregate, base}; }
};

bool expected_decision(const TreeSource& source, const TreeSource::Node& node, double x) {
  const double t = node.threshold;
  if (std::isnan(x)) return node.missing_goes_true || node.mode == TreeMode::not_equal;
  const auto in_set = [&](double value) {
    const std::vector<double>& set = source.sets[static_cast<size_t>(t)];
    return std::find(set.begin(), set.end(), value) != set.end();
  };
  switch (node.mode) {
    case TreeMode::less_equal: return x <= t;
    case TreeMode::less: return x < t;
    case TreeMode::greater_equal: return x >= t;
    case TreeMode::greater: return x > t;
    case TreeMode::equal: return x == t;
    case TreeMode::not_equal: return x != t;
    case TreeMode::member: return in_set(x);
    case TreeMode::member_whole: return x >= 0 && in_set(std::floor(x));
    case TreeMode::less_equal_or_zero: return std::abs(x) <= double{1e-35F} ? node.missing_goes_true : x <= t;
    case TreeMode::leaf: break;
  }
  return false;
}

// Whole numbers are seen as float32.
double seen(float x) { return static_cast<double>(x); }
double seen(double x) { return x; }
double seen(int32_t x) { return static_cast<double>(static_cast<float>(x)); }
double seen(int64_t x) { return static_cast<double>(static_cast<float>(x)); }

struct Scores {
  std::vector<double> totals;
  std::vector<uint8_t> scored;
};

template <class T>
Scores walked(const Described& described, const T* row) {
  const TreeSource& source = described.source;
  const bool adds = described.aggregate == TreeAggregate::sum || described.aggregate == TreeAggregate::average;
  Scores scores{std::vector<double>(described.targets), std::vector<uint8_t>(described.targets)};
  if (adds && !described.base.empty()) scores.scored.assign(described.targets, 1);
  for (const size_t root : source.roots) {
    size_t at = root;
    while (source.nodes[at].mode != TreeMode::leaf) {
      const TreeSource::Node& node = source.nodes[at];
      at = expected_decision(source, node, seen(row[node.feature])) ? node.true_child : node.false_child;
    }
    const TreeSource::Node& leaf = source.nodes[at];
    for (size_t w = leaf.first_weight; w < leaf.first_weight + leaf.weight_count; w++) {
      const auto [target, value] = source.weights[w];
      double& total = scores.totals[target];
      const bool first = scores.scored[target] == 0;
      if (adds) total += value;
      if (described.aggregate == TreeAggregate::minimum) total = first ? value : std::min(total, value);
      if (described.aggregate == TreeAggregate::maximum) total = first ? value : std::max(total, value);
      scores.scored[target] = 1;
    }
  }
  for (size_t t = 0; t < described.targets; t++) {
    if (described.aggregate == TreeAggregate::average && !source.roots.empty()) {
      scores.totals[t] /= static_cast<double>(source.roots.size());
    }
    if (!described.base.empty()) scores.totals[t] += described.base[t];
  }
  return scores;
}

template <class T>
Scores scored_in_batches(const TreeEnsemble& ensemble, const std::vector<T>& x, size_t rows, size_t batch) {
  const size_t width = ensemble.features();
  std::vector<double> scratch(ensemble.scratch_count() * TreeEnsemble::kScratchSize / sizeof(double) + 1);
  Scores scores;
  for (size_t begin = 0; begin < rows; begin += batch) {
    size_t next = 0;
    ensemble.for_rows(x.data() + begin * width, std::min(batch, rows - begin), width,
                      reinterpret_cast<std::byte*>(scratch.data()),
                      [&](size_t row, std::span<double> totals, const uint8_t* scored) {
                        EXPECT_EQ(row, next++);
                        scores.totals.insert(scores.totals.end(), totals.begin(), totals.end());
                        scores.scored.insert(scores.scored.end(), scored, scored + totals.size());
                      });
  }
  return scores;
}

// The same bits as the walk's, whatever the batch.
template <class T>
void expect_walked(const Described& described, const std::vector<T>& x) {
  const TreeEnsemble ensemble = described.made();
  const size_t rows = x.size() / described.features;
  Scores expected;
  for (size_t r = 0; r < rows; r++) {
    const Scores row = walked(described, x.data() + r * described.features);
    expected.totals.insert(expected.totals.end(), row.totals.begin(), row.totals.end());
    expected.scored.insert(expected.scored.end(), row.scored.begin(), row.scored.end());
  }
  for (const size_t batch : {rows, size_t{1}, size_t{3}, size_t{8}, size_t{13}}) {
    const Scores found = scored_in_batches(ensemble, x, rows, batch);
    ASSERT_EQ(found.totals.size(), expected.totals.size());
    for (size_t i = 0; i < found.totals.size(); i++) {
      ASSERT_EQ(std::bit_cast<uint64_t>(found.totals[i]), std::bit_cast<uint64_t>(expected.totals[i]))
          << found.totals[i] << " and " << expected.totals[i] << " at " << i << " of batches of " << batch;
    }
    ASSERT_EQ(found.scored, expected.scored);
  }
}

// Numbers near which float32 and float64 differ.
const std::vector<double>& edges() {
  static const std::vector<double> numbers = {
      0.0,    -0.0,     0.1,          -0.1,          1.0 / 3,  1,      -1,        2,
      3,      1e-35,    1.1e-35,      -1e-35,        1e-40,    -1e-40, 1.4e-45,   -1.4e-45,
      1e-300, -1e-300,  3.4028235e38, -3.4028235e38, 1e300,    -1e300, kInfinity, -kInfinity,
      kNaN,   16777217, -16777217,    2.5,           16777216, -2};
  return numbers;
}

struct TreeShape {
  std::vector<TreeMode> modes;
  size_t features = 3;
  size_t targets = 1;
  size_t trees = 7;
  size_t depth = 6;
};

class Random {
 public:
  explicit Random(uint64_t seed) : stream_(seed, "ensemble_test") {}
  size_t below(size_t count) { return static_cast<size_t>(stream_.uniform() * static_cast<double>(count)); }
  bool chance(double share) { return stream_.uniform() < share; }
  double edge() { return chance(0.7) ? edges()[below(edges().size())] : stream_.uniform() * 8 - 4; }

  Described ensemble(const TreeShape& shape) {
    Described made;
    made.features = shape.features;
    made.targets = shape.targets;
    for (size_t s = 0; s < 4; s++) {
      made.source.sets.emplace_back();
      for (size_t m = below(5); m > 0; m--) made.source.sets.back().push_back(static_cast<double>(below(5)));
    }
    made.source.sets[0].push_back(0.1);
    for (size_t t = 0; t < shape.trees; t++)
      made.source.roots.push_back(subtree(made.source, shape, below(shape.depth + 1)));
    return made;
  }

  // Near numbers that trees compare with.
  template <class T>
  std::vector<T> rows(size_t count, size_t features) {
    std::vector<T> x(count * features);
    for (T& value : x) {
      if constexpr (std::is_integral_v<T>) {
        value = chance(0.5) ? static_cast<T>(below(9)) - 4 : static_cast<T>(16777216 + below(4));
        if (chance(0.1)) value = std::numeric_limits<T>::max() - static_cast<T>(below(200));
      } else {
        const double number = edge();
        constexpr double kMost = std::numeric_limits<float>::max();
        const bool huge = std::abs(number) > kMost && std::is_same_v<T, float>;
        value = huge ? static_cast<T>(std::copysign(kInfinity, number)) : static_cast<T>(number);
        const size_t move = below(3);
        if (move > 0) value = std::nextafter(value, static_cast<T>(move == 1 ? kInfinity : -kInfinity));
        if (chance(0.1)) value = static_cast<T>(kNaN);
      }
    }
    return x;
  }

 private:
  size_t subtree(TreeSource& source, const TreeShape& shape, size_t depth) {
    const size_t at = source.nodes.size();
    source.nodes.emplace_back();
    if (depth == 0 || chance(0.1)) {
      source.nodes[at].first_weight = source.weights.size();
      for (size_t t = 0; t < shape.targets; t++) {
        if (!chance(shape.targets == 1 ? 0.95 : 3.0 / static_cast<double>(shape.targets))) continue;
        source.weights.push_back({static_cast<uint32_t>(t), stream_.uniform() - 0.5});
      }
      source.nodes[at].weight_count = source.weights.size() - source.nodes[at].first_weight;
      return at;
    }
    TreeSource::Node node;
    node.mode = shape.modes[below(shape.modes.size())];
    node.missing_goes_true = chance(0.5);
    node.feature = static_cast<int64_t>(below(shape.features));
    node.threshold = has_set(node.mode) ? static_cast<double>(below(source.sets.size())) : edge();
    node.true_child = subtree(source, shape, depth - 1);
    node.false_child = subtree(source, shape, depth - 1);
    source.nodes[at] = node;
    return at;
  }

  RandomStream stream_;
};

const std::vector<TreeMode> kOrders = {TreeMode::less_equal, TreeMode::less, TreeMode::greater_equal, TreeMode::greater,
                                       TreeMode::less_equal_or_zero};
const std::vector<TreeMode> kAll = {
    TreeMode::less_equal, TreeMode::less,   TreeMode::greater_equal,      TreeMode::greater,     TreeMode::equal,
    TreeMode::not_equal,  TreeMode::member, TreeMode::less_equal_or_zero, TreeMode::member_whole};

void expect_all_types(const Described& described, Random& random, size_t rows) {
  expect_walked(described, random.rows<float>(rows, described.features));
  expect_walked(described, random.rows<double>(rows, described.features));
  expect_walked(described, random.rows<int32_t>(rows, described.features));
  expect_walked(described, random.rows<int64_t>(rows, described.features));
}

TEST(TreeEnsemble, WalksEveryModeAlone) {
  Random random(1);
  for (const TreeMode mode : kAll) {
    for (int repeat = 0; repeat < 5; repeat++) {
      SCOPED_TRACE(static_cast<int>(mode));
      expect_all_types(random.ensemble({.modes = {mode}}), random, 150);
    }
  }
}

TEST(TreeEnsemble, WalksMixedModes) {
  Random random(2);
  for (int repeat = 0; repeat < 10; repeat++) {
    expect_all_types(random.ensemble({.modes = kOrders}), random, 150);
    expect_all_types(random.ensemble({.modes = kAll}), random, 150);
  }
}

// One stump for each number and each way to compare with it, on the float32 numbers around it and all other edges.
TEST(TreeEnsemble, ComparesFloatsWithDoublesExactly) {
  std::vector<float> x = {kFloatInfinity, -kFloatInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (const double edge : edges()) {
    if (std::abs(edge) > static_cast<double>(std::numeric_limits<float>::max())) continue;
    const auto near = static_cast<float>(edge);
    for (const float value : {near, std::nextafter(near, kFloatInfinity), std::nextafter(near, -kFloatInfinity)}) {
      x.push_back(value);
    }
  }
  for (const TreeMode mode : kOrders) {
    for (const double edge : edges()) {
      for (const bool missing : {false, true}) {
        Described stump;
        stump.source.nodes.resize(3);
        stump.source.nodes[0] = {
            .mode = mode, .missing_goes_true = missing, .threshold = edge, .true_child = 1, .false_child = 2};
        stump.source.nodes[1].weight_count = stump.source.nodes[2].weight_count = 1;
        stump.source.nodes[2].first_weight = 1;
        stump.source.weights = {{0, 1.0}, {0, 2.0}};
        stump.source.roots = {0};
        SCOPED_TRACE(::testing::Message() << static_cast<int>(mode) << ' ' << edge << ' ' << missing);
        expect_walked(stump, x);
      }
    }
  }
}

TEST(TreeEnsemble, AggregatesManyTargets) {
  Random random(3);
  for (const size_t targets : {2, 5, 700, 5000}) {
    for (const TreeAggregate aggregate :
         {TreeAggregate::sum, TreeAggregate::average, TreeAggregate::minimum, TreeAggregate::maximum}) {
      for (const bool with_base : {false, true}) {
        Described described = random.ensemble({.modes = kOrders, .targets = targets, .depth = 4});
        described.aggregate = aggregate;
        for (size_t t = 0; with_base && t < targets; t++) described.base.push_back(random.edge());
        std::erase_if(described.base, [](double value) { return std::isnan(value); });
        described.base.resize(with_base ? targets : 0, 0.25);
        expect_walked(described, random.rows<float>(20, described.features));
      }
    }
  }
}

TEST(TreeEnsemble, AggregatesOneTarget) {
  Random random(4);
  for (const TreeAggregate aggregate :
       {TreeAggregate::sum, TreeAggregate::average, TreeAggregate::minimum, TreeAggregate::maximum}) {
    for (const auto& modes : {kOrders, kAll}) {
      Described described = random.ensemble({.modes = modes, .trees = 20, .depth = 3});
      described.aggregate = aggregate;
      expect_walked(described, random.rows<float>(300, described.features));
      described.base = {0.1};
      expect_walked(described, random.rows<float>(300, described.features));
    }
  }
}

// More columns than fit into a byte, into 12 bits, into any node.
TEST(TreeEnsemble, WalksWideRows) {
  Random random(5);
  for (const size_t features : {size_t{14}, size_t{40}, size_t{1000}, size_t{30000}}) {
    expect_walked(random.ensemble({.modes = {TreeMode::less_equal}, .features = features, .trees = 300, .depth = 7}),
                  random.rows<float>(30, features));
  }
}

// Trees of one leaf between others, none at all, and more trees than are walked at once.
TEST(TreeEnsemble, WalksTreesOfOneLeaf) {
  Random random(6);
  for (const size_t trees : {0, 1, 7, 8, 9, 17}) {
    for (const size_t depth : {0, 1, 2}) {
      Described described = random.ensemble({.modes = kOrders, .trees = trees, .depth = depth});
      expect_walked(described, random.rows<float>(9, described.features));
      described.aggregate = TreeAggregate::average;
      described.base = {1.5};
      expect_walked(described, random.rows<float>(9, described.features));
    }
  }
}

Described chain(size_t length, size_t features, const std::function<double(size_t)>& threshold) {
  Described made;
  made.features = features;
  TreeSource& source = made.source;
  source.nodes.resize(2 * length + 1);
  for (size_t i = 0; i <= 2 * length; i++) {
    TreeSource::Node& node = source.nodes[i];
    if (i < length) {
      node = {.mode = TreeMode::less,
              .feature = static_cast<int64_t>(i % features),
              .threshold = threshold(i),
              .true_child = length + i,
              .false_child = i + 1 < length ? i + 1 : 2 * length};
    } else {
      node.first_weight = i - length;
      node.weight_count = 1;
      source.weights.push_back({0, static_cast<double>(i - length)});
    }
  }
  source.roots = {0};
  return made;
}

// In a chain of tests x < 1, x < 2, ... a row with x ends at leaf floor(x).
TEST(TreeEnsemble, WalksDeepTrees) {
  const Described deep = chain(40000, 1, [](size_t i) { return static_cast<double>(i + 1); });
  const std::vector<float> x = {0, 39999.5F, 12345.5F, 1, 40001, 7, 8, 30000, 39999, -kFloatInfinity};
  const Scores found = scored_in_batches(deep.made(), x, x.size(), x.size());
  EXPECT_THAT(found.totals, ::testing::ElementsAre(0, 39999, 12345, 1, 40000, 7, 8, 30000, 39999, 0));
  expect_walked(deep, x);
}

// Nodes that do not fit beside their columns: 600 columns leave room for 2^16 nodes.
TEST(TreeEnsemble, WalksLargeTreesOfWideRows) {
  Random random(7);
  for (const size_t length : {size_t{30000}, size_t{40000}}) {
    const Described large = chain(length, 600, [&](size_t i) { return static_cast<double>(i / 600); });
    std::vector<float> x(600 * 9, 1e6F);
    for (size_t r = 0; r < 8; r++) x[r * 600 + random.below(600)] = static_cast<float>(random.below(length / 600));
    expect_walked(large, x);
  }
}

TEST(TreeEnsemble, DecidesNodeByNode) {
  Random random(8);
  const Described described = random.ensemble({.modes = kAll, .trees = 20});
  const TreeEnsemble ensemble = described.made();
  const std::vector<double> x = random.rows<double>(40, 1);
  // The same depth-first order: a node, then its true side; children stand side by side.
  for (size_t t = 0; t < described.source.roots.size(); t++) {
    std::vector<std::pair<size_t, size_t>> pending = {{described.source.roots[t], ensemble.roots()[t]}};
    while (!pending.empty()) {
      const auto [from, to] = pending.back();
      pending.pop_back();
      const TreeSource::Node& described_node = described.source.nodes[from];
      const TreeNode& node = ensemble.nodes()[to];
      ASSERT_EQ(node.is_leaf(), described_node.mode == TreeMode::leaf);
      if (node.is_leaf()) continue;
      for (const double value : x) {
        ASSERT_EQ(ensemble.goes_true(node, value), expected_decision(described.source, described_node, value));
      }
      pending.emplace_back(described_node.true_child, node.child);
      pending.emplace_back(described_node.false_child, node.child + 1);
    }
  }
}

// Files have the weights of a leaf in any order, and several for one target: they are summed in the order of the file.
TEST(TreeEnsemble, LeavesHaveTheirWeightsInAnyOrderAndMayRepeatTargets) {
  Random random(9);
  for (const TreeAggregate aggregate : {TreeAggregate::sum, TreeAggregate::minimum}) {
    Described described = random.ensemble({.modes = kOrders, .targets = 7, .trees = 5, .depth = 4});
    described.aggregate = aggregate;
    described.source.weights.clear();
    for (TreeSource::Node& node : described.source.nodes) {
      if (node.mode != TreeMode::leaf) continue;
      node.first_weight = described.source.weights.size();
      node.weight_count = random.below(20);
      for (size_t w = 0; w < node.weight_count; w++) {
        const double value = (random.chance(0.5) ? 1e15 : 1) * (1 + static_cast<double>(random.below(1000))) / 7;
        described.source.weights.push_back({static_cast<uint32_t>(random.below(7)), value});
      }
    }
    expect_walked(described, random.rows<float>(60, described.features));
  }
  Described leaf;
  leaf.targets = 4;
  leaf.source.nodes.resize(1);
  leaf.source.nodes[0].weight_count = 7;
  leaf.source.roots = {0};
  leaf.source.weights = {{2, 1e17}, {0, 3}, {2, 1}, {3, 5}, {0, 0.25}, {2, -1e17}, {3, 7}};
  const TreeEnsemble ensemble = leaf.made();
  const TreeNode& node = ensemble.nodes()[0];
  EXPECT_EQ(ensemble.leaf_weight(node, 0), 3.25);
  EXPECT_EQ(ensemble.leaf_weight(node, 1), 0);
  EXPECT_EQ(ensemble.leaf_weight(node, 2), 1e17 + 1 - 1e17);
  EXPECT_EQ(ensemble.leaf_weight(node, 3), 12);
  // Of many targets, some of them twice and some never.
  for (const size_t count : {size_t{15}, size_t{16}, size_t{17}, size_t{40}, size_t{1000}}) {
    Described many;
    many.targets = 500;
    many.source.nodes.resize(1);
    many.source.nodes[0].weight_count = count;
    many.source.roots = {0};
    std::vector<double> sums(500);
    for (size_t w = 0; w < count; w++) {
      const auto target = static_cast<uint32_t>(random.below(500));
      many.source.weights.push_back({target, static_cast<double>(w + 1)});
      sums[target] += static_cast<double>(w + 1);
    }
    const TreeEnsemble made = many.made();
    for (size_t t = 0; t < 500; t++) EXPECT_EQ(made.leaf_weight(made.nodes()[0], t), sums[t]);
  }
}

// Every decision of the shifted trees on x is that of the trees on x - c, rounded to float32.
TEST(TreeEnsemble, ShiftedTreesDecideAsOnTheNumberBeforeTheShift) {
  Described stumps;
  for (const TreeMode mode : {TreeMode::less_equal, TreeMode::less, TreeMode::greater_equal, TreeMode::greater}) {
    for (const double threshold : edges()) {
      const size_t at = stumps.source.nodes.size();
      stumps.source.nodes.resize(at + 3);
      stumps.source.nodes[at] = {.mode = mode,
                                 .missing_goes_true = at % 2 == 0,
                                 .threshold = threshold,
                                 .true_child = at + 1,
                                 .false_child = at + 2};
      stumps.source.roots.push_back(at);
    }
  }
  const TreeEnsemble trees = stumps.made();
  Random random(10);
  std::vector<float> numbers = random.rows<float>(300, 1);
  for (int i = -60; i < 60; i++) numbers.push_back(static_cast<float>(i));
  for (const float c : {0.1F, 0.37F, -1.3F, 2.7F, 1e-40F, -1e20F, 3e38F, -3e38F, 16777217.0F}) {
    const std::optional<TreeEnsemble> shifted = trees.shifted(std::vector<float>{c});
    ASSERT_TRUE(shifted);
    // Those next to where the decision falls.
    std::vector<float> all = numbers;
    for (const double edge : edges()) {
      if (std::abs(edge) > 1e38) continue;
      float near = static_cast<float>(edge) + c;
      for (int i = 0; i < 3; i++) near = std::nextafter(near, -kFloatInfinity);
      for (int i = 0; i < 6; i++) all.push_back(near = std::nextafter(near, kFloatInfinity));
    }
    for (const uint32_t root : trees.roots()) {
      for (const float x : all) {
        ASSERT_EQ(shifted->goes_true(shifted->nodes()[root], static_cast<double>(x)),
                  trees.goes_true(trees.nodes()[root], static_cast<double>(x - c)))
            << "mode " << static_cast<int>(trees.nodes()[root].mode()) << ", threshold "
            << trees.nodes()[root].threshold << ", x " << x << ", c " << c;
      }
    }
  }
  EXPECT_FALSE(trees.shifted(std::vector<float>{kFloatInfinity}));
  EXPECT_FALSE(trees.shifted(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}));
}

}  // namespace
}  // namespace assay

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "assay/model/trees/ensemble.h"
#include "tests/message.h"
#include "tests/model/ops/trees.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using namespace assay::testing;

using Floats = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
auto near(double x) { return FloatNear(static_cast<float>(x), 1e-6F); }

// The definition: walks from the first node of each tree by names.
std::vector<double> reference_scores(const Trees& trees, const std::vector<double>& row, size_t targets,
                                     const std::string& aggregate, const Floats& base) {
  std::map<std::pair<int64_t, int64_t>, size_t> positions;
  std::vector<size_t> roots;
  for (size_t i = 0; i < trees.ids.size(); i++) {
    if (i == 0 || trees.trees[i] != trees.trees[i - 1]) roots.push_back(i);
    positions[{trees.trees[i], trees.ids[i]}] = i;
  }
  std::vector<std::vector<double>> hit(targets);
  for (const size_t root : roots) {
    size_t at = root;
    while (trees.modes[at] != "LEAF") {
      const double x = row[static_cast<size_t>(trees.features[at])];
      const auto value = static_cast<double>(trees.values[at]);
      const std::string& mode = trees.modes[at];
      bool yes = mode == "BRANCH_LEQ"   ? x <= value
                 : mode == "BRANCH_LT"  ? x < value
                 : mode == "BRANCH_GTE" ? x >= value
                 : mode == "BRANCH_GT"  ? x > value
                 : mode == "BRANCH_EQ"  ? x == value
                                        : x != value;
      if (std::isnan(x) && trees.missing[at] == 1) yes = true;
      at = positions.at({trees.trees[at], yes ? trees.true_ids[at] : trees.false_ids[at]});
    }
    for (size_t w = 0; w < trees.weights.size(); w++) {
      if (trees.weight_trees[w] == trees.trees[at] && trees.weight_nodes[w] == trees.ids[at]) {
        hit[static_cast<size_t>(trees.weight_targets[w])].push_back(static_cast<double>(trees.weights[w]));
      }
    }
  }
  std::vector<double> scores(targets);
  for (size_t t = 0; t < targets; t++) {
    double total = 0;
    for (const double each : hit[t]) total += each;
    if (aggregate == "AVERAGE") total /= static_cast<double>(roots.size());
    if (aggregate == "MIN" && !hit[t].empty()) total = *std::min_element(hit[t].begin(), hit[t].end());
    if (aggregate == "MAX" && !hit[t].empty()) total = *std::max_element(hit[t].begin(), hit[t].end());
    scores[t] = total + (base.empty() ? 0 : static_cast<double>(base[t]));
  }
  return scores;
}

// Random trees of 3 features with thresholds that rows hit exactly; ids are shuffled but for the root.
Trees random_trees(RandomStream& random, const std::string& mode, size_t targets) {
  Trees trees;
  const auto below = [&](size_t n) { return static_cast<int64_t>(random.uniform() * static_cast<double>(n)); };
  const auto count = 1 + below(6);
  for (int64_t tree = 0; tree < count; tree++) {
    int64_t next = 1;
    const std::function<void(int64_t, int)> grow = [&](int64_t id, int depth) {
      if (depth == 0 || random.uniform() < 0.2) {
        trees.leaf(tree * 3, id);
        for (size_t t = 0; t < targets; t++) {
          if (random.uniform() < 0.8) {
            trees.weight(tree * 3, id, static_cast<int64_t>(t), static_cast<float>(random.uniform() - 0.4));
          }
        }
        return;
      }
      const int64_t yes = next++;
      const int64_t no = next++;
      trees.branch(tree * 3, id, mode.empty() ? kModes[below(6)] : mode, below(3), static_cast<float>(below(5)) / 2,
                   yes, no, random.uniform() < 0.3);
      // False first: children need not follow in any order.
      grow(no, depth - 1);
      grow(yes, depth - 1);
    };
    grow(0, 5);
  }
  return trees;
}

template <class T>
std::vector<T> random_rows(RandomStream& random, size_t rows) {
  std::vector<T> x(rows * 3);
  for (T& each : x) {
    each = static_cast<T>(static_cast<double>(static_cast<int64_t>(random.uniform() * 6)) /
                          (std::is_integral_v<T> ? 1 : 2));
    if constexpr (std::is_floating_point_v<T>) {
      if (random.uniform() < 0.1) each = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return x;
}

template <class T>
void expect_reference(uint64_t seed, const std::string& mode) {
  RandomStream random(seed, "trees", 0);
  const size_t targets = 1 + seed % 3;
  const std::string aggregate = std::vector<std::string>{"SUM", "AVERAGE", "MIN", "MAX"}[seed / 3 % 4];
  const Trees trees = random_trees(random, mode, targets);
  const Floats base = seed % 2 == 0 ? Floats() : Floats(targets, 0.25F);
  // More than two blocks, and rows left over.
  const size_t rows = 301;
  const std::vector<T> x = random_rows<T>(random, rows);
  const auto node =
      ml_node("TreeEnsembleRegressor",
              trees.regressor({int_attribute("n_targets", static_cast<int64_t>(targets)),
                               text_attribute("aggregate_function", aggregate), floats_attribute("base_values", base)}),
              {variable<T>({static_cast<int64_t>(rows), 3}, x)});
  const Floats found = output_of<float>(node);
  for (size_t i = 0; i < rows; i++) {
    const std::vector<double> row(x.begin() + static_cast<ptrdiff_t>(3 * i),
                                  x.begin() + static_cast<ptrdiff_t>(3 * i + 3));
    const std::vector<double> expected = reference_scores(trees, row, targets, aggregate, base);
    for (size_t t = 0; t < targets; t++) ASSERT_THAT(found[i * targets + t], near(expected[t])) << "row " << i;
  }
}

TEST(TreeEnsembleRegressor, FollowsTheDefinition) {
  for (uint64_t seed = 0; seed < 36; seed++) {
    SCOPED_TRACE(seed);
    const std::string mode = seed % 7 == 6 ? "" : kModes[seed % 7];
    expect_reference<float>(seed, mode);
    expect_reference<double>(seed, mode);
    expect_reference<int64_t>(seed, mode);
    expect_reference<int32_t>(seed, mode);
  }
}

TEST(TreeEnsembleRegressor, ComparesWholeNumbersAsFloat32AndDoublesExactly) {
  Trees trees;
  trees.branch(0, 0, "BRANCH_EQ", 0, 16777216, 1, 2);
  trees.leaf(0, 1);
  trees.leaf(0, 2);
  trees.weight(0, 1, 0, 1);
  trees.weight(0, 2, 0, 2);
  const auto run = [&](const NodeInput& x) {
    return output_of<float>(ml_node("TreeEnsembleRegressor", trees.regressor(), {x}));
  };
  EXPECT_THAT(run(variable<int64_t>({1, 1}, {16777217})), ElementsAre(1));
  EXPECT_THAT(run(variable<double>({1, 1}, {16777217})), ElementsAre(2));
}

TEST(TreeEnsembleRegressor, TakesDoublesAsTensors) {
  Trees trees = stump();
  trees.weight(0, 1, 0, 0);
  trees.weight(0, 2, 0, 0);
  auto attributes = trees.regressor();
  for (OnnxAttribute& each : attributes) {
    if (each.name == "nodes_values") each = tensor_attribute("nodes_values_as_tensor", tensor_of<double>({0.1, 0, 0}));
    if (each.name == "target_weights")
      each = tensor_attribute("target_weights_as_tensor", tensor_of<double>({1e10, 2}));
  }
  attributes.push_back(tensor_attribute("base_values_as_tensor", tensor_of<double>({-1e10 + 1})));
  // 0.1 as float32 is larger than as float64.
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsembleRegressor", attributes, {variable<float>({1, 1}, {0.1F})})),
              ElementsAre(near(-1e10 + 3)));
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsembleRegressor", attributes, {variable<double>({2, 1}, {0.1, 0.11})})),
              ElementsAre(1, near(-1e10 + 3)));
  attributes.push_back(floats_attribute("nodes_values", {1, 2, 3}));
  EXPECT_THAT(sentence([&] { ml_node("TreeEnsembleRegressor", attributes, {variable<float>({1, 1}, {0})}); }),
              HasSubstr("both nodes_values and nodes_values_as_tensor"));
}

TEST(TreeEnsembleRegressor, TransformsSeveralTargetsButOfOneOnlyByProbit) {
  const auto run = [](const std::string& transform, int64_t targets) {
    Trees trees = stump();
    for (int64_t t = 0; t < targets; t++) trees.weight(0, 1, t, t == 0 ? 0.25F : 0.5F);
    return output_of<float>(
        ml_node("TreeEnsembleRegressor",
                trees.regressor({int_attribute("n_targets", targets), text_attribute("post_transform", transform)}),
                {variable<float>({1, 1}, {0})}));
  };
  EXPECT_THAT(run("LOGISTIC", 1), ElementsAre(0.25F));
  EXPECT_THAT(run("PROBIT", 1), ElementsAre(FloatNear(-0.67449F, 2e-3F)));
  EXPECT_THAT(run("LOGISTIC", 2), ElementsAre(near(logistic(0.25)), near(logistic(0.5))));
  EXPECT_THAT(run("SOFTMAX", 2), ElementsAre(near(logistic(-0.25)), near(logistic(0.25))));
}

TEST(TreeEnsembleRegressor, IgnoresWeightsOfBranchesAndNodesOutOfReach) {
  Trees trees = stump();
  trees.weight(0, 0, 0, 100);
  trees.weight(0, 1, 0, 1);
  trees.weight(0, 1, 0, 2);
  trees.branch(0, 7, "BRANCH_LEQ", 99, 0, 0, 0);
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsembleRegressor", trees.regressor(), {variable<float>({2, 1}, {0, 1})})),
              ElementsAre(3, 0));
}

TEST(TreeEnsembleRegressor, StartsAtTheNodeListedFirst) {
  Trees trees;
  trees.branch(4, 9, "BRANCH_LEQ", 0, 0.5F, 2, 1);
  trees.leaf(4, 1);
  trees.leaf(4, 2);
  trees.leaf(-3, 5);
  trees.weight(4, 1, 0, 1);
  trees.weight(4, 2, 0, 2);
  trees.weight(-3, 5, 0, 10);
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsembleRegressor", trees.regressor(), {variable<float>({2, 1}, {0, 1})})),
              ElementsAre(12, 11));
}

// LightGBM's converter writes sets of categories as chains of BRANCH_EQ that share their true child.
TEST(TreeEnsembleRegressor, JoinsChainsThatShareAChild) {
  Trees trees;
  trees.branch(0, 0, "BRANCH_EQ", 0, 5, 10, 1);
  trees.branch(0, 1, "BRANCH_EQ", 0, 2, 10, 2, true);
  trees.branch(0, 2, "BRANCH_EQ", 0, 3, 10, 11);
  trees.branch(0, 10, "BRANCH_LEQ", 1, 0.5F, 12, 13);
  for (int64_t leaf = 11; leaf < 14; leaf++) {
    trees.leaf(0, leaf);
    trees.weight(0, leaf, 0, static_cast<float>(leaf));
  }
  const std::vector<float> x = {5, 0, 2, 1, 3, 0, 4, 0, 2.5F, 0, kNan, 1};
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsembleRegressor", trees.regressor(), {variable<float>({6, 2}, x)})),
              ElementsAre(12, 13, 12, 11, 11, 13));
  // Not a chain: another feature in between.
  trees.features[1] = 1;
  EXPECT_THAT(sentence([&] { ml_node("TreeEnsembleRegressor", trees.regressor(), {variable<float>({6, 2}, x)}); }),
              HasSubstr("node 10 of tree 0 is reached twice; the nodes must form trees"));
}

TEST(TreeEnsembleRegressor, BearsChainsOfAnyDepth) {
  constexpr int64_t kDepth = 200000;
  Trees trees;
  for (int64_t i = 0; i < kDepth; i++) {
    trees.branch(0, 2 * i, "BRANCH_LEQ", 0, static_cast<float>(i), 2 * i + 1, 2 * i + 2);
    trees.leaf(0, 2 * i + 1);
    trees.weight(0, 2 * i + 1, 0, static_cast<float>(i));
  }
  trees.leaf(0, 2 * kDepth);
  trees.weight(0, 2 * kDepth, 0, -1);
  EXPECT_THAT(output_of<float>(
                  ml_node("TreeEnsembleRegressor", trees.regressor(), {variable<float>({3, 1}, {-5, 1e9F, 77777})})),
              ElementsAre(0, -1, 77777));
  // The same depth as one set.
  for (std::string& mode : trees.modes) {
    if (mode == "BRANCH_LEQ") mode = "BRANCH_EQ";
  }
  for (int64_t i = 0; i < kDepth; i++) trees.true_ids[static_cast<size_t>(2 * i)] = 1;
  EXPECT_THAT(
      output_of<float>(ml_node("TreeEnsembleRegressor", trees.regressor(), {variable<float>({2, 1}, {77777, 0.5F})})),
      ElementsAre(0, -1));
}

TEST(TreeEnsembleRegressor, DoesNotDependOnTheBatch) {
  RandomStream random(3, "trees", 1);
  const Trees trees = random_trees(random, "", 2);
  const std::vector<float> x = random_rows<float>(random, 150);
  const auto attributes = trees.regressor({int_attribute("n_targets", 2)});
  const Floats all = output_of<float>(ml_node("TreeEnsembleRegressor", attributes, {variable<float>({150, 3}, x)}));
  for (size_t i = 0; i < 150; i++) {
    const std::vector<float> row(x.begin() + static_cast<ptrdiff_t>(3 * i),
                                 x.begin() + static_cast<ptrdiff_t>(3 * i + 3));
    const auto alone = ml_node("TreeEnsembleRegressor", attributes, {variable<float>({3}, row)});
    EXPECT_EQ(alone.output_info(0)->dims, Shape({1, 2}));
    EXPECT_THAT(output_of<float>(alone), ElementsAre(all[2 * i], all[2 * i + 1]));
  }
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsembleRegressor", attributes, {variable<float>({0, 3}, {})})),
              ElementsAre());
}

TEST(TreeEnsembleRegressor, RefusesWhatCannotBeATree) {
  const auto error = [](const std::function<void(Trees&)>& change, std::vector<OnnxAttribute> more = {}) {
    Trees trees = stump();
    trees.weight(0, 1, 0, 1);
    trees.weight(0, 2, 0, 2);
    change(trees);
    return sentence(
        [&] { ml_node("TreeEnsembleRegressor", trees.regressor(std::move(more)), {variable<float>({1, 1}, {0})}); });
  };
  EXPECT_EQ(error([](Trees&) {}), "no error");
  EXPECT_THAT(error([](Trees& t) { t.values.pop_back(); }), HasSubstr("expected 3 elements in nodes_values"));
  EXPECT_THAT(error([](Trees& t) { t.modes.pop_back(); }),
              HasSubstr("3 elements in nodes_modes, as in its other attributes; found 2"));
  EXPECT_THAT(error([](Trees& t) { t.trees.pop_back(); }), HasSubstr("nodes_treeids"));
  EXPECT_THAT(error([](Trees& t) { t.features.pop_back(); }), HasSubstr("nodes_featureids"));
  EXPECT_THAT(error([](Trees& t) { t.true_ids.pop_back(); }), HasSubstr("nodes_truenodeids"));
  EXPECT_THAT(error([](Trees& t) { t.false_ids.push_back(0); }), HasSubstr("nodes_falsenodeids"));
  EXPECT_THAT(error([](Trees& t) { t.missing.pop_back(); }), HasSubstr("nodes_missing_value_tracks_true"));
  EXPECT_THAT(error([](Trees& t) { t.weights.pop_back(); }), HasSubstr("2 elements in target_weights"));
  EXPECT_THAT(error([](Trees& t) { t.weight_trees.pop_back(); }), HasSubstr("target_treeids"));
  EXPECT_THAT(error([](Trees& t) { t.weight_nodes.pop_back(); }), HasSubstr("target_nodeids"));
  EXPECT_THAT(error([](Trees& t) { t.true_ids[0] = 9; }),
              HasSubstr("a true child is node 9 of tree 0, which does not exist"));
  EXPECT_THAT(error([](Trees& t) { t.false_ids[0] = INT64_MIN; }),
              HasSubstr("a false child is node -9223372036854775808"));
  EXPECT_THAT(error([](Trees& t) { t.weight_nodes[0] = 5; }), HasSubstr("the place of a weight is node 5 of tree 0"));
  EXPECT_THAT(error([](Trees& t) { t.ids[2] = 1; }), HasSubstr("node 1 of tree 0 is given twice"));
  EXPECT_THAT(error([](Trees& t) { t.true_ids[0] = 0; }), HasSubstr("node 0 of tree 0 is reached twice"));
  EXPECT_THAT(error([](Trees& t) {
                t.modes[1] = "BRANCH_EQ";
                t.true_ids[1] = 2;
                t.false_ids[1] = 0;
              }),
              HasSubstr("node 0 of tree 0 is reached twice"));
  EXPECT_THAT(error([](Trees& t) {
                t.modes[0] = t.modes[2] = "BRANCH_EQ";
                t.true_ids[2] = 1;
                t.false_ids[2] = 0;
              }),
              HasSubstr("is reached twice"));
  EXPECT_THAT(error([](Trees& t) { t.modes[0] = "BRANCH_MAYBE"; }),
              HasSubstr("BRANCH_NEQ or LEAF, found 'BRANCH_MAYBE'"));
  for (const int64_t feature : {int64_t{1}, int64_t{-1}, INT64_MAX}) {
    EXPECT_THAT(error([&](Trees& t) { t.features[0] = feature; }), HasSubstr("node 0 of tree 0 tests feature"));
  }
  for (const int64_t target : {int64_t{1}, int64_t{-1}, INT64_MAX}) {
    EXPECT_THAT(error([&](Trees& t) { t.weight_targets[0] = target; }),
                HasSubstr("target_ids must lie in 0 to 0, found"));
  }
  EXPECT_THAT(error([](Trees&) {}, {int_attribute("n_targets", 0)}), HasSubstr("n_targets must be 1 or more"));
  EXPECT_THAT(error([](Trees&) {}, {int_attribute("n_targets", INT64_MAX)}), HasSubstr("bytes are allowed"));
  EXPECT_THAT(error([](Trees&) {}, {floats_attribute("base_values", {1, 2})}), HasSubstr("1 elements in base_values"));
  EXPECT_THAT(error([](Trees&) {}, {text_attribute("aggregate_function", "MEDIAN")}), HasSubstr("found 'MEDIAN'"));
}

struct Five {
  std::vector<int64_t> roots = {0};
  std::vector<int64_t> features, true_ids, true_leafs, false_ids, false_leafs, targets, missing = {};
  std::vector<uint8_t> modes;
  Floats splits, weights, members = {};
  int64_t n_targets = 1;

  std::vector<OnnxAttribute> attributes(std::vector<OnnxAttribute> more = {}) const {
    const std::vector<OnnxAttribute> given = {ints_attribute("tree_roots", roots),
                                              ints_attribute("nodes_featureids", features),
                                              ints_attribute("nodes_truenodeids", true_ids),
                                              ints_attribute("nodes_trueleafs", true_leafs),
                                              ints_attribute("nodes_falsenodeids", false_ids),
                                              ints_attribute("nodes_falseleafs", false_leafs),
                                              ints_attribute("nodes_missing_value_tracks_true", missing),
                                              ints_attribute("leaf_targetids", targets),
                                              tensor_attribute("nodes_modes", tensor_of(modes)),
                                              tensor_attribute("nodes_splits", tensor_of(splits)),
                                              tensor_attribute("leaf_weights", tensor_of(weights)),
                                              tensor_attribute("membership_values", tensor_of(members)),
                                              int_attribute("n_targets", n_targets)};
    more.insert(more.end(), given.begin(), given.end());
    return more;
  }
};

// ONNX's examples tree_ensemble_single_tree and tree_ensemble_set_membership.
Five single_tree() {
  return {.features = {0, 0, 0},
          .true_ids = {1, 0, 1},
          .true_leafs = {0, 1, 1},
          .false_ids = {2, 2, 3},
          .false_leafs = {0, 1, 1},
          .targets = {0, 1, 0, 1},
          .modes = {0, 0, 0},
          .splits = {3.14F, 1.2F, 4.2F},
          .weights = {5.23F, 12.12F, -12.23F, 7.21F},
          .n_targets = 2};
}
Five set_membership() {
  return {.features = {0, 0, 0},
          .true_ids = {1, 0, 1},
          .true_leafs = {0, 1, 1},
          .false_ids = {2, 2, 3},
          .false_leafs = {1, 0, 1},
          .targets = {0, 1, 2, 3},
          .modes = {0, 6, 6},
          .splits = {11, 232344, kNan},
          .weights = {1, 10, 1000, 100},
          .members = {1.2F, 3.7F, 8, 9, kNan, 12, 7, kNan},
          .n_targets = 4};
}

TEST(TreeEnsemble, ComputesOnnxsExamples) {
  const auto single = ml_node("TreeEnsemble", single_tree().attributes(),
                              {variable<double>({3, 2}, {1.2, 3.4, -0.12, 1.66, 4.14, 1.77})}, 1, 5);
  EXPECT_EQ(single.output_info(0)->type, OnnxElement::float64);
  EXPECT_THAT(output_of<double>(single), ElementsAre(double{5.23F}, 0, double{5.23F}, 0, 0, double{12.12F}));
  const auto sets = ml_node("TreeEnsemble", set_membership().attributes(),
                            {variable<float>({6, 1}, {1.2F, 3.4F, -0.12F, kNan, 12, 7})}, 1, 5);
  EXPECT_THAT(output_of<float>(sets), ElementsAreArray<float>({1, 0, 0,    0, 0, 0, 0,    100, 0, 0,  0, 100,
                                                               0, 0, 1000, 0, 0, 0, 1000, 0,   0, 10, 0, 0}));
}

TEST(TreeEnsemble, SendsMissingValuesWhereItIsTold) {
  Five sets = set_membership();
  sets.missing = {1, 0, 1};
  // To the true child of the first, none of the second's set, and by order to the true child of the third.
  EXPECT_THAT(output_of<float>(ml_node("TreeEnsemble", sets.attributes(), {variable<float>({1}, {kNan})}, 1, 5)),
              ElementsAre(0, 10, 0, 0));
}

TEST(TreeEnsemble, AggregatesAndTransforms) {
  // Two trees of one leaf each, written as ONNX asks; their features mean nothing.
  const Five two = {.roots = {0, 1},
                    .features = {99, -1},
                    .true_ids = {0, 1},
                    .true_leafs = {1, 1},
                    .false_ids = {0, 1},
                    .false_leafs = {1, 1},
                    .targets = {0, 0},
                    .modes = {0, 0},
                    .splits = {0, 0},
                    .weights = {0.5F, 0.25F}};
  const auto run = [&](int64_t aggregate, int64_t transform, int64_t targets = 1) {
    Five trees = two;
    trees.n_targets = targets;
    return output_of<float>(ml_node(
        "TreeEnsemble",
        trees.attributes({int_attribute("aggregate_function", aggregate), int_attribute("post_transform", transform)}),
        {variable<float>({1, 1}, {0})}, 1, 5));
  };
  EXPECT_THAT(run(0, 0), ElementsAre(0.375F));
  EXPECT_THAT(run(1, 0), ElementsAre(0.75F));
  EXPECT_THAT(run(2, 0), ElementsAre(0.25F));
  EXPECT_THAT(run(3, 0), ElementsAre(0.5F));
  EXPECT_THAT(run(1, 1, 2), ElementsAre(near(logistic(0.75)), near(logistic(-0.75))));
  EXPECT_THAT(run(1, 2, 2), ElementsAre(near(logistic(0.75)), near(0.5)));
  EXPECT_THAT(run(1, 3, 2), ElementsAre(1, 0));
  EXPECT_THAT(run(2, 4), ElementsAre(FloatNear(-0.67449F, 2e-3F)));
}

TEST(TreeEnsemble, RefusesWhatCannotBeATree) {
  const auto error = [](const std::function<void(Five&)>& change, std::vector<OnnxAttribute> more = {}) {
    Five trees = set_membership();
    change(trees);
    return sentence(
        [&] { ml_node("TreeEnsemble", trees.attributes(std::move(more)), {variable<float>({1, 1}, {0})}, 1, 5); });
  };
  EXPECT_EQ(error([](Five&) {}), "no error");
  EXPECT_EQ(error([](Five& t) { t.members.pop_back(); }), "no error");
  EXPECT_THAT(error([](Five& t) { t.members.clear(); }),
              HasSubstr("expected 2 sets in membership_values, one for each BRANCH_MEMBER; found 0"));
  EXPECT_THAT(error([](Five& t) { t.members.push_back(1); }), HasSubstr("found 3"));
  EXPECT_THAT(error([](Five& t) { t.modes.pop_back(); }), HasSubstr("3 elements in nodes_modes"));
  EXPECT_THAT(error([](Five& t) { t.splits.pop_back(); }), HasSubstr("3 elements in nodes_splits"));
  EXPECT_THAT(error([](Five& t) { t.true_leafs.pop_back(); }), HasSubstr("nodes_trueleafs"));
  EXPECT_THAT(error([](Five& t) { t.weights.pop_back(); }), HasSubstr("4 elements in leaf_weights"));
  EXPECT_THAT(error([](Five& t) { t.modes[0] = 7; }), HasSubstr("nodes_modes must lie in 0 to 6, found 7"));
  EXPECT_THAT(error([](Five& t) { t.true_ids[1] = 4; }), HasSubstr("a child is leaf 4, of 4"));
  EXPECT_THAT(error([](Five& t) { t.false_ids[1] = -1; }), HasSubstr("a child is node -1, of 3"));
  EXPECT_THAT(error([](Five& t) { t.false_ids[1] = 0; }), HasSubstr("node 0 is reached twice"));
  EXPECT_THAT(error([](Five& t) { t.roots = {0, 2}; }), HasSubstr("node 2 is reached twice"));
  EXPECT_THAT(error([](Five& t) { t.roots = {3}; }), HasSubstr("a root is node 3, of 3"));
  EXPECT_THAT(error([](Five& t) { t.features[2] = 1; }), HasSubstr("node 2 tests feature 1, the input has 1"));
  EXPECT_THAT(error([](Five& t) { t.targets[0] = 4; }), HasSubstr("leaf_targetids must lie in 0 to 3, found 4"));
  EXPECT_THAT(error([](Five&) {}, {int_attribute("aggregate_function", 4)}),
              HasSubstr("aggregate_function must lie in 0 to 3"));
  EXPECT_THAT(error([](Five&) {}, {int_attribute("post_transform", -1)}),
              HasSubstr("post_transform must lie in 0 to 4"));
  EXPECT_THAT(
      sentence([] { ml_node("TreeEnsemble", set_membership().attributes(), {variable<int64_t>({1, 1}, {0})}, 1, 5); }),
      HasSubstr("must be FLOAT or DOUBLE"));
}

TEST(TreeEnsembleType, KeepsChildrenSideBySideAndWeightsInRanges) {
  TreeSource source;
  source.nodes = {{.mode = TreeMode::less, .feature = 1, .threshold = 2, .true_child = 1, .false_child = 2},
                  {.first_weight = 0, .weight_count = 2},
                  {.first_weight = 2, .weight_count = 1}};
  source.roots = {0};
  source.weights = {{0, 1}, {1, 5}, {0, 3}};
  const TreeEnsemble ensemble("here", source, 2, 2, TreeAggregate::sum, {});
  ASSERT_EQ(ensemble.nodes().size(), 3U);
  const TreeNode& root = ensemble.nodes()[ensemble.roots()[0]];
  EXPECT_EQ(root.mode(), TreeMode::less);
  EXPECT_EQ(root.feature, 1U);
  const TreeNode& yes = ensemble.nodes()[root.child];
  const TreeNode& no = ensemble.nodes()[root.child + 1];
  ASSERT_EQ(ensemble.weights(yes).size(), 2U);
  EXPECT_EQ(ensemble.weights(yes)[1].value, 5);
  EXPECT_EQ(yes.threshold, 1);
  ASSERT_EQ(ensemble.weights(no).size(), 1U);
  EXPECT_EQ(ensemble.weights(no)[0].value, 3);
  source.weights[1].target = 2;
  EXPECT_EQ(sentence([&] { TreeEnsemble("here", source, 2, 2, TreeAggregate::sum, {}); }),
            "here: a leaf has a weight for target 2, of 2");
}

}  // namespace
}  // namespace assay

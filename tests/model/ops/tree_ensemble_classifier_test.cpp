#include <gmock/gmock.h>

#include <cmath>

#include "tests/message.h"
#include "tests/model/ops/trees.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using namespace assay::testing;

using Floats = std::vector<float>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
auto near(double x) { return FloatNear(static_cast<float>(x), 1e-6F); }

// Weights for the leaves of the stump: {node, class, weight}.
struct Weight {
  int64_t node, target;
  float value;
};
struct Classified {
  std::vector<int64_t> labels;
  Floats scores;
  Shape dims;
};
Classified classify(const std::vector<Weight>& weights, const std::string& transform, const Floats& base,
                    const std::vector<int64_t>& labels = {10, 20}, bool raw = false) {
  Trees trees = stump();
  for (const Weight& each : weights) trees.weight(0, each.node, each.target, each.value);
  const auto node = ml_node(
      "TreeEnsembleClassifier",
      trees.classifier({ints_attribute("classlabels_int64s", labels), text_attribute("post_transform", transform),
                        floats_attribute("base_values", base), int_attribute("assay_raw", raw ? 1 : 0)}),
      {variable<float>({2, 1}, {0, 1})}, 2);
  return {output_of<int64_t>(node, 0), output_of<float>(node, 1), node.output_info(1)->dims};
}

// The numbers are onnxruntime 1.31's.
TEST(TreeEnsembleClassifier, MakesUpTheSecondColumnOfOneScore) {
  const std::vector<Weight> positive = {{1, 0, 0.3F}, {2, 0, 0.8F}};
  const std::vector<Weight> mixed = {{1, 0, -0.3F}, {2, 0, 0.8F}};
  for (const char* same : {"NONE", "SOFTMAX", "SOFTMAX_ZERO"}) {
    EXPECT_THAT(classify(positive, same, {}).scores, ElementsAre(near(0.7), near(0.3), near(0.2), near(0.8)));
    EXPECT_THAT(classify(positive, same, {0.1F}).scores, ElementsAre(near(0.6), near(0.4), near(0.1), near(0.9)));
    EXPECT_THAT(classify(mixed, same, {}).scores, ElementsAre(near(0.3), near(-0.3), near(-0.8), near(0.8)));
  }
  EXPECT_THAT(classify(positive, "LOGISTIC", {}).scores,
              ElementsAre(near(logistic(-0.3)), near(logistic(0.3)), near(logistic(-0.8)), near(logistic(0.8))));
  EXPECT_THAT(classify(mixed, "LOGISTIC", {0.1F}).scores,
              ElementsAre(near(logistic(0.2)), near(logistic(-0.2)), near(logistic(-0.9)), near(logistic(0.9))));
  EXPECT_THAT(classify(positive, "PROBIT", {}).scores,
              ElementsAre(FloatNear(0.5244F, 1e-3F), FloatNear(-0.5244F, 1e-3F), FloatNear(-0.8416F, 1e-3F),
                          FloatNear(0.8416F, 1e-3F)));
  EXPECT_THAT(classify(positive, "LOGISTIC", {}).labels, ElementsAre(10, 20));
  EXPECT_THAT(classify({{1, 0, 0.5F}, {2, 0, 0.51F}}, "NONE", {}).labels, ElementsAre(10, 20));
  EXPECT_THAT(classify({{1, 0, -0.5F}, {2, 0, 0.1F}}, "NONE", {}).labels, ElementsAre(10, 20));
  EXPECT_THAT(classify({{1, 0, 0.1F}, {2, 0, -0.0F}}, "NONE", {}).labels, ElementsAre(10, 10));
}

TEST(TreeEnsembleClassifier, PutsZerosBesideAScoreOfTheSecondClass) {
  const std::vector<Weight> weights = {{1, 1, -0.3F}, {2, 1, 0.8F}};
  EXPECT_THAT(classify(weights, "NONE", {}).scores, ElementsAre(0, near(-0.3), 0, near(0.8)));
  EXPECT_THAT(classify(weights, "LOGISTIC", {}).scores,
              ElementsAre(0.5F, near(logistic(-0.3)), 0.5F, near(logistic(0.8))));
  EXPECT_THAT(classify(weights, "SOFTMAX", {}).scores,
              ElementsAre(near(logistic(0.3)), near(logistic(-0.3)), near(logistic(-0.8)), near(logistic(0.8))));
  EXPECT_THAT(classify(weights, "SOFTMAX_ZERO", {}).scores, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(classify(weights, "NONE", {}).labels, ElementsAre(10, 20));
  EXPECT_THAT(classify({{1, 1, 0.3F}, {2, 1, 0.8F}}, "NONE", {}).labels, ElementsAre(10, 20));
}

TEST(TreeEnsembleClassifier, ComparesTheScoresOfTwoClasses) {
  const std::vector<Weight> weights = {{1, 0, 0.7F}, {1, 1, 0.3F}, {2, 0, 0.4F}, {2, 1, 0.6F}};
  EXPECT_THAT(classify(weights, "NONE", {}).scores, ElementsAre(near(0.7), near(0.3), near(0.4), near(0.6)));
  EXPECT_THAT(classify(weights, "NONE", {}).labels, ElementsAre(10, 20));
  EXPECT_THAT(classify(weights, "NONE", {0.5F, 1}).scores, ElementsAre(near(1.2), near(1.3), near(0.9), near(1.6)));
  EXPECT_THAT(classify(weights, "SOFTMAX", {}).scores,
              ElementsAre(near(logistic(0.4)), near(logistic(-0.4)), near(logistic(-0.2)), near(logistic(0.2))));
  // Pure leaves that name their own class only.
  EXPECT_THAT(classify({{1, 0, 1}, {2, 1, 1}}, "NONE", {}).scores, ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(classify({{1, 0, 1}, {2, 1, 1}}, "NONE", {}).labels, ElementsAre(10, 20));
  EXPECT_THAT(classify({{1, 0, 1}, {1, 1, 1}, {2, 1, -1}}, "NONE", {}).labels, ElementsAre(10, 10));
  EXPECT_THAT(classify({{1, 0, 0.25F}, {2, 0, 0.5F}}, "NONE", {0.5F, 1}).scores, ElementsAre(0.75F, 1, 1, 1));
}

TEST(TreeEnsembleClassifier, ChoosesAmongClassesWithWeights) {
  EXPECT_THAT(classify({{1, 2, -0.3F}, {2, 1, -0.7F}}, "NONE", {}, {5, 6, 7}).labels, ElementsAre(7, 6));
  EXPECT_THAT(classify({{1, 2, -0.3F}, {2, 1, -0.7F}}, "NONE", {0, 0.5F, 0}, {5, 6, 7}).labels, ElementsAre(6, 5));
  EXPECT_THAT(classify({{1, 0, 1}, {1, 1, 3}, {1, 2, 3}, {2, 2, 0.5F}}, "NONE", {}, {5, 6, 7}).labels,
              ElementsAre(6, 7));
  EXPECT_THAT(classify({{1, 2, 1}, {2, 1, 2}}, "LOGISTIC", {}, {5, 6, 7}).scores,
              ElementsAre(0.5F, 0.5F, near(logistic(1)), 0.5F, near(logistic(2)), 0.5F));
  // One class: 1 or 0 by the sign.
  EXPECT_THAT(classify({{1, 0, 0.3F}, {2, 0, -0.7F}}, "NONE", {}, {5}).labels, ElementsAre(1, 0));
  EXPECT_THAT(classify({{1, 0, 0.3F}, {2, 0, -0.7F}}, "LOGISTIC", {}, {5}).scores, ElementsAre(0.3F, -0.7F));
}

TEST(TreeEnsembleClassifier, GivesRawScoresOnRequest) {
  const Classified one = classify({{1, 0, -0.3F}, {2, 0, 0.8F}}, "LOGISTIC", {0.5F}, {10, 20}, true);
  EXPECT_EQ(one.dims, Shape({2, 1}));
  EXPECT_THAT(one.scores, ElementsAre(near(0.2), near(1.3)));
  EXPECT_THAT(one.labels, ElementsAre(20, 20));
  EXPECT_THAT(classify({{1, 1, -0.3F}, {2, 1, 0.8F}}, "LOGISTIC", {}, {10, 20}, true).scores, ElementsAre(-0.3F, 0.8F));
  EXPECT_THAT(classify({{1, 0, 1}, {2, 1, 2}}, "SOFTMAX", {}, {10, 20}, true).scores, ElementsAre(1, 0, 0, 2));
  EXPECT_THAT(classify({{1, 0, 1}, {2, 1, 2}}, "SOFTMAX", {1, 1, 1}, {5, 6, 7}, true).scores,
              ElementsAre(2, 1, 1, 1, 3, 1));
}

TEST(TreeEnsembleClassifier, GivesTextLabels) {
  Trees trees = stump();
  trees.weight(0, 1, 0, 0.2F);
  trees.weight(0, 2, 0, 0.7F);
  const auto node =
      ml_node("TreeEnsembleClassifier", trees.classifier({texts_attribute("classlabels_strings", {"no", "yes"})}),
              {variable<double>({2, 1}, {0, 1})}, 1);
  EXPECT_THAT(output_of<std::string>(node, 0), ElementsAre("no", "yes"));
}

// Ten times 0.1 as float32 is a little more than 1, in double; what is written as equal is equal.
TEST(TreeEnsembleClassifier, DecidesByTheScoresItWrites) {
  Trees trees;
  for (int64_t tree = 0; tree < 10; tree++) {
    trees.leaf(tree, 0);
    trees.weight(tree, 0, 1, 0.1F);
    if (tree == 0) trees.weight(tree, 0, 0, 1);
  }
  const auto node =
      ml_node("TreeEnsembleClassifier", trees.classifier({ints_attribute("classlabels_int64s", {10, 20})}),
              {variable<float>({1, 1}, {0})}, 2);
  EXPECT_THAT(output_of<float>(node, 1), ElementsAre(1, 1));
  EXPECT_THAT(output_of<int64_t>(node, 0), ElementsAre(10));
}

TEST(TreeEnsembleClassifier, RefusesWhatDoesNotFit) {
  const auto error = [](const std::vector<Weight>& weights, const Floats& base, const std::vector<int64_t>& labels) {
    return sentence([&] { classify(weights, "NONE", base, labels); });
  };
  EXPECT_THAT(error({{1, 0, 1}}, {}, {}), HasSubstr("no class labels"));
  EXPECT_THAT(error({{1, 2, 1}}, {}, {1, 2}), HasSubstr("class_ids must lie in 0 to 1, found 2"));
  EXPECT_THAT(error({{1, 0, 1}, {1, 1, 1}}, {1}, {1, 2}), HasSubstr("expected 2 elements in base_values"));
  EXPECT_THAT(error({{1, 0, 1}}, {1, 2, 3}, {1, 2}), HasSubstr("base_values"));
  EXPECT_THAT(error({{1, 0, 1}}, {1}, {1, 2, 3}), HasSubstr("expected 3 elements in base_values"));
}

}  // namespace
}  // namespace assay

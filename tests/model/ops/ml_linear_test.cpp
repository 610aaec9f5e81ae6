#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "assay/model/ops/classifier.h"
#include "tests/message.h"
#include "tests/model/ops/ml_node.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using namespace assay::testing;

using Floats = std::vector<float>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
auto near(double x) { return FloatNear(static_cast<float>(x), 1e-6F); }

std::vector<OnnxAttribute> regressor(Floats coefficients, Floats intercepts, int64_t targets,
                                     const std::string& transform = "NONE") {
  return {floats_attribute("coefficients", std::move(coefficients)),
          floats_attribute("intercepts", std::move(intercepts)), int_attribute("targets", targets),
          text_attribute("post_transform", transform)};
}

TEST(LinearRegressor, ComputesByHand) {
  const auto node =
      ml_node("LinearRegressor", regressor({1, -2, 0.5F, 3}, {10, -1}, 2), {variable<float>({2, 2}, {1, 2, 3, -4})});
  EXPECT_EQ(node.output_info(0)->dims, Shape({2, 2}));
  EXPECT_THAT(output_of<float>(node), ElementsAre(7, 5.5F, 21, -11.5F));
}

TEST(LinearRegressor, TakesAllNumbersRowsAndNoIntercepts) {
  const auto attributes = regressor({2, -1}, {}, 1);
  EXPECT_THAT(output_of<float>(ml_node("LinearRegressor", attributes, {variable<int64_t>({2, 2}, {1, 2, 3, 5})})),
              ElementsAre(0, 1));
  EXPECT_THAT(output_of<float>(ml_node("LinearRegressor", attributes, {variable<int32_t>({1, 2}, {4, 2})})),
              ElementsAre(6));
  EXPECT_THAT(output_of<float>(ml_node("LinearRegressor", attributes, {variable<double>({1, 2}, {0.5, 0.25})})),
              ElementsAre(0.75F));
  const auto row = ml_node("LinearRegressor", attributes, {variable<float>({2}, {4, 2})});
  EXPECT_EQ(row.output_info(0)->dims, Shape({1, 1}));
  EXPECT_THAT(output_of<float>(row), ElementsAre(6));
  EXPECT_THAT(output_of<float>(ml_node("LinearRegressor", attributes, {variable<float>({0, 2}, {})})), ElementsAre());
}

TEST(LinearRegressor, TransformsSeveralTargetsButOfOneOnlyByProbit) {
  const auto run = [](const std::string& transform, int64_t targets) {
    return output_of<float>(ml_node("LinearRegressor",
                                    regressor(targets == 1 ? Floats{1} : Floats{1, 2}, {}, targets, transform),
                                    {variable<float>({1, 1}, {0.25F})}));
  };
  EXPECT_THAT(run("LOGISTIC", 2), ElementsAre(near(logistic(0.25)), near(logistic(0.5))));
  EXPECT_THAT(run("SOFTMAX", 2), ElementsAre(near(logistic(-0.25)), near(logistic(0.25))));
  EXPECT_THAT(run("LOGISTIC", 1), ElementsAre(0.25F));
  EXPECT_THAT(run("SOFTMAX", 1), ElementsAre(0.25F));
  // The normal quantile of 1/4 is -0.67449; of 1/2 it is 0.
  EXPECT_THAT(run("PROBIT", 1), ElementsAre(FloatNear(-0.67449F, 2e-3F)));
  EXPECT_THAT(run("PROBIT", 2), ElementsAre(FloatNear(-0.67449F, 2e-3F), near(0)));
}

TEST(LinearRegressor, SoftmaxZeroLeavesZerosOut) {
  const auto node =
      ml_node("LinearRegressor", regressor({1, 0, 2}, {}, 3, "SOFTMAX_ZERO"), {variable<float>({1}, {1})});
  EXPECT_THAT(output_of<float>(node), ElementsAre(near(logistic(-1)), near(0), near(logistic(1))));
}

TEST(LinearRegressor, HasDerivatives) {
  expect_float_gradients(
      ml_node("LinearRegressor", regressor({1, -2, 0.5F, 3, 1, -1}, {1, 2}, 2), {random_input<double>({3, 3}, 1)}), 0,
      0.5, 1e-5);
  const auto single = ml_node("LinearRegressor", regressor({2, -3}, {}, 1), {variable<float>({1, 2}, {1, 1})});
  SingleNode::Run run = single.forward();
  Floats gradient = {1, 1};
  const float slope = 2;
  const void* out = &slope;
  void* in = gradient.data();
  single.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
  EXPECT_THAT(gradient, ElementsAre(5, -5));
  const auto can = [](const std::string& transform, const NodeInput& x) {
    return ml_node("LinearRegressor", regressor({2, -3}, {}, 1, transform), {x}).kernel().differentiable(0);
  };
  EXPECT_TRUE(can("NONE", variable<float>({2}, {1, 1})));
  EXPECT_FALSE(can("PROBIT", variable<float>({2}, {1, 1})));
  EXPECT_FALSE(can("NONE", variable<int64_t>({2}, {1, 1})));
}

TEST(LinearRegressor, RefusesWhatDoesNotFit) {
  const auto error = [](std::vector<OnnxAttribute> attributes, const NodeInput& x) {
    return sentence([&] { ml_node("LinearRegressor", std::move(attributes), {x}); });
  };
  const NodeInput x = variable<float>({1, 2}, {1, 1});
  EXPECT_THAT(error(regressor({1, 2, 3}, {}, 1), x), HasSubstr("expected 1 x 2 coefficients"));
  EXPECT_THAT(error(regressor({1, 2, 3}, {}, 2), x), HasSubstr("found 3"));
  EXPECT_THAT(error(regressor({1, 2}, {1, 2, 3}, 1), x), HasSubstr("expected 1 intercepts, found 3"));
  EXPECT_THAT(error(regressor({1, 2}, {}, 0), x), HasSubstr("targets must be 1 or more, found 0"));
  EXPECT_THAT(error(regressor({1, 2}, {}, INT64_MAX), x), HasSubstr("bytes are allowed"));
  EXPECT_THAT(error(regressor({1, 2}, {}, 1, "TANH"), x), HasSubstr("SOFTMAX_ZERO or PROBIT, found 'TANH'"));
  EXPECT_THAT(error(regressor({1}, {}, 1), variable<float>({2, 0}, {})), HasSubstr("1 x 0 coefficients"));
  EXPECT_THAT(error(regressor({1}, {}, 1), variable<std::string>({1}, {"a"})), HasSubstr("found STRING"));
  EXPECT_THAT(error(regressor({1}, {}, 1), variable<float>({1, 1, 1}, {1})), HasSubstr("1 to 2 dimensions"));
}

std::vector<OnnxAttribute> classifier(Floats coefficients, Floats intercepts, std::vector<int64_t> labels,
                                      const std::string& transform = "NONE", bool raw = false) {
  return {floats_attribute("coefficients", std::move(coefficients)),
          floats_attribute("intercepts", std::move(intercepts)), ints_attribute("classlabels_ints", std::move(labels)),
          text_attribute("post_transform", transform), int_attribute("assay_raw", raw ? 1 : 0)};
}

TEST(LinearClassifier, ChoosesTheLargestScoreAndTheFirstOfEquals) {
  const auto node = ml_node("LinearClassifier", classifier({1, 0, 0, 1, -1, -1}, {0, 0, 0.5F}, {7, 8, 9}),
                            {variable<float>({4, 2}, {3, 1, 1, 3, -1, -1, 2, 2})}, 2);
  EXPECT_THAT(output_of<int64_t>(node, 0), ElementsAre(7, 8, 9, 7));
  EXPECT_EQ(node.output_info(1)->dims, Shape({4, 3}));
  EXPECT_THAT(output_of<float>(node, 1), ElementsAre(3, 1, -3.5F, 1, 3, -3.5F, -1, -1, 2.5F, 2, 2, -3.5F));
}

// Ten times 0.1 as float32 is a little more than 1, in double; what is written as equal is equal.
TEST(LinearClassifier, DecidesByTheScoresItWrites) {
  Floats coefficients(20, 0.0F);
  std::fill(coefficients.begin() + 10, coefficients.end(), 0.1F);
  const auto node = ml_node("LinearClassifier", classifier(coefficients, {1, 0}, {3, 5}),
                            {variable<float>({10}, Floats(10, 1.0F))}, 2);
  EXPECT_THAT(output_of<float>(node, 1), ElementsAre(1, 1));
  EXPECT_THAT(output_of<int64_t>(node, 0), ElementsAre(3));
}

TEST(LinearClassifier, GivesTextLabelsAndProbabilities) {
  auto attributes = classifier({1, 2}, {0, 0}, {});
  attributes[2] = texts_attribute("classlabels_strings", {"no", "yes"});
  attributes[3] = text_attribute("post_transform", "SOFTMAX");
  const auto node = ml_node("LinearClassifier", attributes, {variable<double>({2, 1}, {1, -1})}, 2);
  EXPECT_THAT(output_of<std::string>(node, 0), ElementsAre("yes", "no"));
  EXPECT_THAT(output_of<float>(node, 1),
              ElementsAre(near(logistic(-1)), near(logistic(1)), near(logistic(1)), near(logistic(-1))));
}

// What onnxruntime 1.31 gives; for PROBIT, where it leaves a column unwritten, see post_transform.h.
TEST(LinearClassifier, MakesUpTheSecondColumnOfOneScore) {
  const auto run = [](const std::string& transform) {
    return output_of<float>(
        ml_node("LinearClassifier", classifier({1}, {0.25F}, {3, 5}, transform), {variable<float>({1}, {0.5F})}, 2), 1);
  };
  EXPECT_THAT(run("NONE"), ElementsAre(0.25F, 0.75F));
  EXPECT_THAT(run("SOFTMAX"), ElementsAre(0.25F, 0.75F));
  EXPECT_THAT(run("SOFTMAX_ZERO"), ElementsAre(0.25F, 0.75F));
  EXPECT_THAT(run("LOGISTIC"), ElementsAre(near(logistic(-0.75)), near(logistic(0.75))));
  EXPECT_THAT(run("PROBIT"), ElementsAre(FloatNear(-0.67449F, 2e-3F), FloatNear(0.67449F, 2e-3F)));
  const auto labels = ml_node("LinearClassifier", classifier({1}, {0}, {3, 5}, "LOGISTIC"),
                              {variable<float>({3, 1}, {0.1F, 0, -0.1F})}, 2);
  EXPECT_THAT(output_of<int64_t>(labels, 0), ElementsAre(5, 3, 3));
}

TEST(LinearClassifier, GivesRawScoresOnRequest) {
  const NodeInput x = variable<float>({2, 1}, {0.5F, -1});
  const auto one = ml_node("LinearClassifier", classifier({1}, {0.25F}, {3, 5}, "LOGISTIC", true), {x}, 2);
  EXPECT_EQ(one.output_info(1)->dims, Shape({2, 1}));
  EXPECT_THAT(output_of<float>(one, 1), ElementsAre(0.75F, -0.75F));
  EXPECT_THAT(output_of<int64_t>(one, 0), ElementsAre(5, 3));
  const auto two = ml_node("LinearClassifier", classifier({-1, 1}, {-0.25F, 0.25F}, {3, 5}, "LOGISTIC", true), {x}, 2);
  EXPECT_THAT(output_of<float>(two, 1), ElementsAre(-0.75F, 0.75F, 0.75F, -0.75F));
}

TEST(LinearClassifier, NeedsNeitherInterceptsNorBothOutputs) {
  auto attributes = classifier({1, -1}, {}, {3, 5});
  EXPECT_THAT(output_of<float>(ml_node("LinearClassifier", attributes, {variable<float>({1, 1}, {2})}, 2), 1),
              ElementsAre(2, -2));
  attributes = classifier({1, -1}, {}, {3, 5});
  EXPECT_THAT(output_of<float>(ml_node("LinearClassifier", attributes, {variable<float>({1, 2}, {2, 1})}, 2), 1),
              ElementsAre(0, 1));
  EXPECT_THAT(output_of<int64_t>(ml_node("LinearClassifier", attributes, {variable<float>({1, 1}, {2})}, 1), 0),
              ElementsAre(3));
}

TEST(LinearClassifier, HasDerivativesOfScores) {
  const NodeInput x = random_input<double>({3, 2}, 5);
  for (const bool raw : {false, true}) {
    const std::string transform = raw ? "SOFTMAX" : "NONE";
    expect_float_gradients(
        ml_node("LinearClassifier", classifier({1, 2, 3, -1, 0, 2}, {1, 2, 3}, {1, 2, 3}, transform, raw), {x}, 2), 1,
        0.5, 1e-5);
    expect_float_gradients(ml_node("LinearClassifier", classifier({1, 2}, {1}, {1, 2}, transform, raw), {x}, 2), 1, 0.5,
                           1e-5);
  }
  EXPECT_FALSE(
      ml_node("LinearClassifier", classifier({1, 2}, {1}, {1, 2}, "LOGISTIC"), {x}, 2).kernel().differentiable(0));
}

TEST(LinearClassifier, RefusesWhatDoesNotFit) {
  const auto error = [](std::vector<OnnxAttribute> attributes) {
    return sentence([&] { ml_node("LinearClassifier", std::move(attributes), {variable<float>({1, 2}, {1, 1})}, 2); });
  };
  EXPECT_THAT(error(classifier({1, 2}, {1}, {})), HasSubstr("no class labels"));
  EXPECT_THAT(error(classifier({1, 2, 3, 4}, {1, 2}, {1, 2, 3})), HasSubstr("each of 3 class labels, found 2"));
  EXPECT_THAT(error(classifier({1, 2, 3}, {1, 2}, {1, 2})), HasSubstr("expected 2 x 2 coefficients"));
  // As onnxruntime: what the input's features do not need is ignored.
  EXPECT_EQ(error(classifier({1, 2, 3, 4, 5, 6}, {0, 0}, {1, 2})), "no error");
}

TEST(ClassifierLabels, AreText) {
  OnnxNode node;
  node.op_type = "LinearClassifier";
  node.attributes = {ints_attribute("classlabels_ints", {-1, 4}), ints_attribute("classlabels_int64s", {7})};
  EXPECT_THAT(classifier_labels(node), ElementsAre("-1", "4"));
  node.op_type = "TreeEnsembleClassifier";
  EXPECT_THAT(classifier_labels(node), ElementsAre("7"));
  node.attributes.push_back(texts_attribute("classlabels_strings", {"a", "b"}));
  EXPECT_THAT(classifier_labels(node), ElementsAre("a", "b"));
  node.attributes.clear();
  EXPECT_THAT(classifier_labels(node), ElementsAre());
}

}  // namespace
}  // namespace assay

#include "assay/model/train/networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> operators_of(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const OnnxNode& node : model.graph.nodes) names.push_back(node.op_type);
  return names;
}

std::map<std::string, std::vector<int64_t>> shapes_of(const OnnxModel& model) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const OnnxTensor& tensor : model.graph.initializers) shapes[tensor.name] = tensor.dims;
  return shapes;
}

std::vector<float> values_of(const OnnxModel& model, const std::string& name) {
  const auto found = std::ranges::find(model.graph.initializers, name, &OnnxTensor::name);
  return found == model.graph.initializers.end() ? std::vector<float>() : to_floats("test", *found);
}

// Every node reads what was made before, and the last one makes the output.
void expect_chain(const OnnxModel& model) {
  std::string last = "rows";
  for (const OnnxNode& node : model.graph.nodes) {
    ASSERT_FALSE(node.inputs.empty());
    EXPECT_EQ(node.inputs[0], last) << node.name;
    for (size_t i = 1; i < node.inputs.size(); ++i) EXPECT_TRUE(shapes_of(model).contains(node.inputs[i]));
    ASSERT_EQ(node.outputs.size(), 1u);
    last = node.outputs[0];
  }
  EXPECT_EQ(model.graph.outputs.at(0).name, last);
}

TEST(MlpNetwork, IsThePapersForAdult) {
  const OnnxModel model = mlp_network({}, 14, 2, true, 1);
  EXPECT_THAT(operators_of(model), ElementsAre("Gemm", "LeakyRelu", "Gemm", "Softmax"));
  expect_chain(model);
  EXPECT_EQ(model.graph.nodes[2].outputs[0], "margin");
  EXPECT_EQ(model.graph.outputs[0].name, "probability");
  const auto shapes = shapes_of(model);
  EXPECT_THAT(shapes.at("dense1.weight"), ElementsAre(40, 14));
  EXPECT_THAT(shapes.at("dense1.bias"), ElementsAre(40));
  EXPECT_THAT(shapes.at("output.weight"), ElementsAre(2, 40));
  EXPECT_THAT(shapes.at("output.bias"), ElementsAre(2));
  EXPECT_EQ(model.graph.nodes[1].attribute("alpha")->floats, std::vector<float>{0.01f});
  EXPECT_EQ(model.graph.nodes[0].attribute("transB")->ints, std::vector<int64_t>{1});
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(opset_version(model.opsets, ""), 17);
  EXPECT_EQ(model.producer_name, "assay");
  EXPECT_EQ(parse_onnx("m.onnx", serialise_onnx(model), ""), model);
}

TEST(MlpNetwork, RegressionEndsInItsValue) {
  MlpOptions options;
  options.hidden = {8, 4};
  options.activation.activation = "tanh";
  const OnnxModel model = mlp_network(options, 3, 1, false, 1);
  EXPECT_THAT(operators_of(model), ElementsAre("Gemm", "Tanh", "Gemm", "Tanh", "Gemm"));
  expect_chain(model);
  EXPECT_EQ(model.graph.outputs[0].name, "value");
}

TEST(MlpNetwork, WithoutHiddenLayersIsLinear) {
  MlpOptions options;
  options.hidden = {};
  const OnnxModel model = mlp_network(options, 4, 3, true, 1);
  EXPECT_THAT(operators_of(model), ElementsAre("Gemm", "Softmax"));
  expect_chain(model);
}

TEST(MlpNetwork, KnowsAllActivations) {
  const std::map<std::string, std::string> expected = {
      {"relu", "Relu"}, {"leaky_relu", "LeakyRelu"}, {"tanh", "Tanh"}, {"sigmoid", "Sigmoid"}, {"elu", "Elu"}};
  EXPECT_EQ(activation_names().size(), expected.size());
  for (const auto& [name, op] : expected) {
    MlpOptions options;
    options.activation.activation = name;
    EXPECT_EQ(mlp_network(options, 2, 2, true, 1).graph.nodes[1].op_type, op);
  }
}

TEST(MlpNetwork, StartsAsPyTorchDoes) {
  MlpOptions options;
  options.hidden = {400};
  const OnnxModel model = mlp_network(options, 25, 2, true, 3);
  for (const auto& [name, fan_in] :
       {std::pair{"dense1.weight", 25.0}, {"dense1.bias", 25.0}, {"output.weight", 400.0}}) {
    const auto values = values_of(model, name);
    const double bound = 1 / std::sqrt(fan_in);
    double largest = 0, mean = 0, square = 0;
    for (const float each : values) {
      largest = std::max(largest, std::abs(static_cast<double>(each)));
      mean += each;
      square += static_cast<double>(each) * each;
    }
    const auto count = static_cast<double>(values.size());
    EXPECT_LE(largest, bound) << name;
    EXPECT_GT(largest, 0.95 * bound) << name;
    // Uniform: mean 0, variance bound^2 / 3; five standard errors.
    EXPECT_NEAR(mean / count, 0, 5 * bound / std::sqrt(3 * count)) << name;
    EXPECT_NEAR(square / count, bound * bound / 3, 5 * bound * bound * 0.3 / std::sqrt(count)) << name;
  }
}

TEST(MlpNetwork, WeightsArePureFunctionsOfTheSeed) {
  EXPECT_EQ(mlp_network({}, 14, 2, true, 5), mlp_network({}, 14, 2, true, 5));
  const OnnxModel one = mlp_network({}, 14, 2, true, 5), other = mlp_network({}, 14, 2, true, 6);
  EXPECT_NE(values_of(one, "dense1.weight"), values_of(other, "dense1.weight"));
  EXPECT_NE(values_of(one, "dense1.weight")[0], values_of(one, "dense1.bias")[0]);
  MlpOptions wide;
  wide.hidden = {40, 10};
  EXPECT_EQ(values_of(mlp_network(wide, 14, 2, true, 5), "dense1.weight"), values_of(one, "dense1.weight"));
}

TEST(CnnNetwork, IsThePapersForMnist) {
  const OnnxModel model = cnn_network({}, {28, 28}, 10, true, 1);
  EXPECT_THAT(operators_of(model),
              ElementsAre("Conv", "Relu", "MaxPool", "Conv", "Relu", "MaxPool", "Flatten", "Gemm", "Softmax"));
  expect_chain(model);
  const auto shapes = shapes_of(model);
  EXPECT_THAT(shapes.at("conv1.weight"), ElementsAre(32, 1, 5, 5));
  EXPECT_THAT(shapes.at("conv2.weight"), ElementsAre(64, 32, 5, 5));
  EXPECT_THAT(shapes.at("output.weight"), ElementsAre(10, 64 * 4 * 4));
  const auto& dims = *model.graph.inputs[0].type.dims;
  ASSERT_EQ(dims.size(), 4u);
  EXPECT_EQ(dims[0].symbol, "N");
  EXPECT_EQ(dims[1].size, 1);
  EXPECT_EQ(dims[3].size, 28);
  double largest = 0;
  for (const float each : values_of(model, "conv2.weight")) largest = std::max(largest, std::abs(double{each}));
  EXPECT_NEAR(largest, 1 / std::sqrt(32 * 25), 1e-3);
}

TEST(CnnNetwork, PaddingKeepsTheSize) {
  CnnOptions options;
  options.padding = "same";
  options.dense = {30};
  const OnnxModel model = cnn_network(options, {3, 30, 22}, 10, true, 1);
  expect_chain(model);
  // 30 x 22 -> 15 x 11 -> 7 x 5
  EXPECT_THAT(shapes_of(model).at("dense1.weight"), ElementsAre(30, 64 * 7 * 5));
  EXPECT_THAT(model.graph.nodes[0].attribute("pads")->ints, ElementsAre(2, 2, 2, 2));
  options.kernel = 4;
  EXPECT_THAT(cnn_network(options, {3, 30, 22}, 10, true, 1).graph.nodes[0].attribute("pads")->ints,
              ElementsAre(1, 1, 2, 2));
}

TEST(CnnNetwork, WithoutPoolingHasNoPools) {
  CnnOptions options;
  options.pool = 1;
  options.channels = {4};
  const OnnxModel model = cnn_network(options, {8, 9}, 2, true, 1);
  EXPECT_THAT(operators_of(model), ElementsAre("Conv", "Relu", "Flatten", "Gemm", "Softmax"));
  EXPECT_THAT(shapes_of(model).at("output.weight"), ElementsAre(2, 4 * 4 * 5));
}

TEST(Networks, RefuseWhatCannotBe) {
  MlpOptions mlp;
  mlp.hidden = {40, 0};
  EXPECT_THAT(sentence([&] { mlp_network(mlp, 14, 2, true, 1); }), HasSubstr("hidden layer 2"));
  mlp.hidden = {-1};
  EXPECT_THAT(sentence([&] { mlp_network(mlp, 14, 2, true, 1); }), HasSubstr("found -1"));
  mlp.hidden = {1 << 16, 1 << 16};
  EXPECT_THAT(sentence([&] { mlp_network(mlp, 14, 2, true, 1); }), HasSubstr("layer dense2: expected at most"));
  EXPECT_THAT(sentence([] { mlp_network({}, 0, 2, true, 1); }), HasSubstr("one feature"));
  EXPECT_THAT(sentence([] { mlp_network({}, 1, 0, true, 1); }), HasSubstr("one output"));
  MlpOptions unknown;
  unknown.activation.activation = "step";
  EXPECT_THAT(sentence([&] { mlp_network(unknown, 1, 2, true, 1); }), HasSubstr("relu, leaky_relu"));
  EXPECT_THAT(sentence([] { cnn_network({}, {15, 28}, 2, true, 1); }),
              HasSubstr("convolution 2: expected at least 6 x 6 pixels"));
  EXPECT_THAT(sentence([] { cnn_network({}, {}, 2, true, 1); }), HasSubstr("rows without a shape"));
  EXPECT_THAT(sentence([] { cnn_network({}, {28}, 2, true, 1); }), HasSubstr("1 dimensions"));
  CnnOptions cnn;
  cnn.channels = {INT64_MAX};
  EXPECT_THAT(sentence([&] { cnn_network(cnn, {28, 28}, 2, true, 1); }), HasSubstr("channels of convolution 1"));
}

}  // namespace
}  // namespace assay

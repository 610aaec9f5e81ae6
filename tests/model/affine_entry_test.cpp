#include "assay/model/affine_entry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "assay/model/engine_model.h"
#include "tests/model/small_graph.h"

namespace assay {
namespace {

using testing::floats;
using testing::model;
using testing::node;
using testing::value;

OnnxAttribute number(std::string name, float real) {
  OnnxAttribute made;
  made.name = std::move(name);
  made.kind = OnnxAttributeKind::one_float;
  made.floats = {real};
  return made;
}

OnnxAttribute integer(std::string name, int64_t whole) {
  OnnxAttribute made;
  made.name = std::move(name);
  made.kind = OnnxAttributeKind::one_int;
  made.ints = {whole};
  return made;
}

// x (2) -> z = x A + a (3) -> what these nodes make of it
std::unique_ptr<EngineModel> after_first_layer(std::vector<OnnxNode> nodes, size_t outputs,
                                               std::vector<OnnxTensor> weights = {}) {
  nodes.insert(nodes.begin(), node("Gemm", {"x", "A", "a"}, {"z"}));
  weights.push_back(floats("A", {2, 3}, {1, -2, 3, 4, 5, -6}));
  weights.push_back(floats("a", {3}, {0.5F, 0, -1}));
  weights.push_back(floats("V", {3, 2}, {1, 2, 3, 4, 5, 6}));
  weights.push_back(floats("Vt", {2, 3}, {1, 3, 5, 2, 4, 6}));
  weights.push_back(floats("v", {2}, {7, 8}));
  const std::string last = nodes.back().outputs[0];
  return EngineModel::from_onnx(
      "m.onnx", model(nodes, {value("x", {-1, 2})}, {value(last, {-1, static_cast<int64_t>(outputs)})}, weights));
}

std::optional<LeakyTail> tail_of(const EngineModel& model) { return model.affine_entry()->leaky_tail(); }

void expect_tail(const EngineModel& made, float slope, const std::vector<float>& bias, float scale = 1) {
  ASSERT_NE(made.affine_entry(), nullptr);
  const auto tail = tail_of(made);
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->slope, slope);
  ASSERT_EQ(tail->weights.rows(), 3U);
  ASSERT_EQ(tail->weights.cols(), 2U);
  for (size_t j = 0; j < 3; j++) {
    for (size_t c = 0; c < 2; c++) EXPECT_EQ(tail->weights(j, c), scale * static_cast<float>(2 * j + c + 1));
  }
  EXPECT_TRUE(std::equal(tail->bias.begin(), tail->bias.end(), bias.begin(), bias.end()));
}

TEST(LeakyTail, IsFoundInItsForms) {
  expect_tail(*after_first_layer({node("Relu", {"z"}, {"h"}), node("Gemm", {"h", "V", "v"}, {"y"})}, 2), 0, {7, 8});
  expect_tail(*after_first_layer({node("LeakyRelu", {"z"}, {"h"}), node("MatMul", {"h", "V"}, {"y"})}, 2), 0.01F,
              {0, 0});
  expect_tail(*after_first_layer({node("LeakyRelu", {"z"}, {"h"}, {number("alpha", 0.3F)}),
                                  node("MatMul", {"h", "V"}, {"m"}), node("Add", {"v", "m"}, {"y"})},
                                 2),
              0.3F, {7, 8});
  expect_tail(*after_first_layer({node("PRelu", {"z", "s"}, {"h"}),
                                  node("Gemm", {"h", "Vt", "v"}, {"y"},
                                       {integer("transB", 1), number("alpha", 2), number("beta", 0.5F)})},
                                 2, {floats("s", {1}, {0.25F})}),
              0.25F, {3.5F, 4}, 2);
}

TEST(LeakyTail, LooksThroughCopiesAndStopsAtTheMargin) {
  const auto made = after_first_layer(
      {node("Identity", {"z"}, {"z1"}), node("Relu", {"z1"}, {"h"}), node("Flatten", {"h"}, {"h1"}),
       node("Gemm", {"h1", "V", "v"}, {"m"}), node("Identity", {"m"}, {"m1"}), node("Softmax", {"m1"}, {"y"})},
      2);
  EXPECT_EQ(made->info().unit, OutputUnit::margin);
  expect_tail(*made, 0, {7, 8});
}

TEST(LeakyTail, IsNothingElse) {
  const auto none = [](std::vector<OnnxNode> nodes, size_t outputs, std::vector<OnnxTensor> weights = {}) {
    const auto made = after_first_layer(std::move(nodes), outputs, std::move(weights));
    return made->affine_entry() != nullptr && !tail_of(*made);
  };
  EXPECT_TRUE(none({node("Tanh", {"z"}, {"h"}), node("Gemm", {"h", "V", "v"}, {"y"})}, 2));
  EXPECT_TRUE(none({node("Relu", {"z"}, {"y"})}, 3));
  // A slope for each unit.
  EXPECT_TRUE(none({node("PRelu", {"z", "s"}, {"h"}), node("Gemm", {"h", "V", "v"}, {"y"})}, 2,
                   {floats("s", {3}, {0.1F, 0.2F, 0.3F})}));
  // Another layer behind, another path around, another use of the sum.
  EXPECT_TRUE(none({node("Relu", {"z"}, {"h"}), node("Gemm", {"h", "V", "v"}, {"m"}), node("Tanh", {"m"}, {"y"})}, 2));
  EXPECT_TRUE(none({node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "V"}, {"m"}), node("MatMul", {"z", "V"}, {"n"}),
                    node("Add", {"m", "n"}, {"y"})},
                   2));
  EXPECT_TRUE(none({node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "V"}, {"m"}), node("Mul", {"m", "m"}, {"y"})}, 2));
}

}  // namespace
}  // namespace assay

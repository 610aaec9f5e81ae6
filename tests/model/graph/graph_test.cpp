#include "assay/model/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/message.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

std::string refusal(OnnxModel wrong) {
  return sentence([&] { const Graph graph("m.onnx", std::move(wrong)); });
}

TEST(Graph, NodesComeInAnOrderInWhichTheyCanRun) {
  const Graph graph("m.onnx", model({node("Relu", {"b"}, {"y"}), node("Neg", {"a"}, {"b"}), node("Abs", {"x"}, {"a"})},
                                    {value("x", {-1, 2})}, {value("y", {-1, 2})}));
  ASSERT_EQ(graph.nodes().size(), 3U);
  EXPECT_EQ(graph.nodes()[0].onnx.op_type, "Abs");
  EXPECT_EQ(graph.nodes()[1].onnx.op_type, "Neg");
  EXPECT_EQ(graph.nodes()[2].onnx.op_type, "Relu");
  EXPECT_EQ(graph.producer_of(graph.find_value("b")), 1U);
}

TEST(Graph, WhatDependsOnWeightsAloneIsComputedOnce) {
  const Graph graph("m.onnx",
                    model({node("Transpose", {"w"}, {"t"}), node("MatMul", {"x", "t"}, {"y"})}, {value("x", {-1, 3})},
                          {value("y", {-1, 2})}, {floats("w", {2, 3}, {1, 2, 3, 4, 5, 6})}));
  ASSERT_EQ(graph.nodes().size(), 1U);
  const auto& turned = graph.constant(graph.find_value("t"));
  ASSERT_NE(turned, nullptr);
  EXPECT_EQ(turned->dims(), (Shape{3, 2}));
  EXPECT_EQ(turned->data<float>()[1], 4);
  EXPECT_FALSE(graph.is_initializer(graph.find_value("t")));
  EXPECT_TRUE(graph.is_initializer(graph.find_value("w")));
  EXPECT_EQ(graph.parameter_count(), 6U);
}

TEST(Graph, InputsThatOnlyTypeAWeightAreNotInputs) {
  const Graph graph("m.onnx", model({node("Add", {"x", "w"}, {"y"})}, {value("x", {-1, 1}), value("w", {1})},
                                    {value("y", {-1, 1})}, {floats("w", {1}, {2})}));
  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(graph.inputs()[0].name, "x");
}

TEST(Graph, AllOperatorsTheEngineLacksAreNamedAtOnce) {
  const std::string message = refusal(model({node("NonZero", {"x"}, {"a"}), node("Relu", {"x"}, {"b"}),
                                             node("Fancy", {"b"}, {"c"}, {}, "my.own"), node("NonZero", {"b"}, {"y"})},
                                            {value("x", {-1, 2})}, {value("y", {-1, 2})}));
  EXPECT_THAT(message, HasSubstr("m.onnx: 2 of the model's operators are not supported: NonZero (node 1 and 1 more), "
                                 "my.own.Fancy (node 3)"));
}

TEST(Graph, CyclesDoubleNamesAndLooseEndsAreRefused) {
  const std::vector<OnnxValue> in = {value("x", {-1, 2})};
  const std::vector<OnnxValue> out = {value("y", {-1, 2})};
  EXPECT_THAT(
      refusal(model({node("Add", {"x", "b"}, {"a"}), node("Neg", {"a"}, {"b"}), node("Neg", {"a"}, {"y"})}, in, out)),
      HasSubstr("node 1 (Add) waits for its own result: the graph has a cycle"));
  EXPECT_THAT(refusal(model({node("Neg", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}, in, out)),
              HasSubstr("two values of the graph have the name 'y'"));
  EXPECT_THAT(refusal(model({node("Neg", {"z"}, {"y"})}, in, out)),
              HasSubstr("node 1 (Neg): input 'z' is neither an input of the graph, a weight nor made by a node"));
  EXPECT_THAT(refusal(model({node("Neg", {"x"}, {"q"})}, in, out)), HasSubstr("output 'y' is neither an input"));
  EXPECT_THAT(refusal(model({node("Neg", {"x"}, {"y"})}, in, {})), HasSubstr("the graph has no outputs"));
}

TEST(Graph, VersionsOutsideTheKnownOnesAreRefused) {
  OnnxModel old = model({node("Neg", {"x"}, {"y"})}, {value("x", {-1, 2})}, {value("y", {-1, 2})});
  old.opsets = {{"", 6}};
  EXPECT_THAT(refusal(old), HasSubstr("version 6 of ONNX's operators; versions 7 to"));
  old.opsets = {{"", 99}};
  EXPECT_THAT(refusal(old), HasSubstr("version 99 of ONNX's operators"));
  old.opsets = {};
  EXPECT_THAT(refusal(old), HasSubstr("version 0 of ONNX's operators"));
}

TEST(Graph, OwnOperatorsAreNotForFiles) {
  EXPECT_THAT(
      refusal(model({node("LogOdds", {"x"}, {"y"}, {}, "assay")}, {value("x", {-1, 2})}, {value("y", {-1, 2})})),
      HasSubstr("assay.LogOdds"));
}

TEST(Graph, ConstantsThatGrowBeyondTheLimitAreRefused) {
  OnnxModel large = model({node("ConstantOfShape", {"s"}, {"c"}), node("Add", {"x", "c"}, {"y"})},
                          {value("x", {-1, 2})}, {value("y", {-1, 2})}, {integers("s", {2}, {1 << 20, 1 << 20})});
  EXPECT_THAT(refusal(large), HasSubstr("node 1 (ConstantOfShape): it needs 1099511627776 elements"));
}

}  // namespace
}  // namespace assay::testing

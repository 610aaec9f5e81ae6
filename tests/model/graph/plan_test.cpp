#include "assay/model/graph/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/message.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

ValueInfo rows_of(int64_t rows, int64_t columns) { return {OnnxElement::float32, {rows, columns}, nullptr}; }

// Two dense layers with an activation between them, one weight transposed as PyTorch writes it, one bias by Add.
OnnxModel two_layers(const std::string& activation) {
  std::vector<float> w(5 * 7);
  std::vector<float> v(7 * 3);
  std::vector<float> b(7);
  std::vector<float> c(3);
  RandomStream stream(3, "two layers");
  for (auto* values : {&w, &v, &b, &c}) {
    for (float& each : *values) each = static_cast<float>(stream.normal() / 2);
  }
  return model({node("Gemm", {"x", "w", "b"}, {"h"}, {int_attribute("transB", 1)}), node(activation, {"h"}, {"a"}),
                node("MatMul", {"a", "v"}, {"p"}), node("Add", {"c", "p"}, {"y"})},
               {value("x", {-1, 5})}, {value("y", {-1, 3})},
               {floats("w", {7, 5}, w), floats("b", {7}, b), floats("v", {7, 3}, v), floats("c", {3}, c)});
}

struct Results {
  std::vector<float> outputs, by_rows, by_w, by_b, by_v, by_c;
};

Results run(const std::string& activation, int64_t rows, bool fuse) {
  const Graph graph("m.onnx", two_layers(activation));
  const auto weight = [&](const char* name) { return graph.constant(graph.find_value(name)); };
  PlanRequest request;
  request.fuse = fuse;
  request.feeds.push_back({"x", rows_of(rows, 5), true});
  for (const char* name : {"w", "b", "v", "c"}) {
    request.feeds.push_back({name, {OnnxElement::float32, weight(name)->dims(), nullptr}, true});
  }
  request.fetches = {"y"};
  const Plan plan(graph, request);
  EXPECT_EQ(plan.step_count(), fuse ? 1U : 4U);
  std::vector<float> x(static_cast<size_t>(rows) * 5);
  RandomStream stream(4, "rows");
  for (float& each : x) each = static_cast<float>(stream.normal());
  Workspace workspace(plan);
  workspace.feed(0, x.data());
  for (size_t i = 0; i < 4; i++) workspace.feed(i + 1, weight(std::array{"w", "b", "v", "c"}[i])->raw());
  workspace.forward();
  auto* seeds = static_cast<float*>(workspace.fetch_gradient(0));
  for (size_t i = 0; i < static_cast<size_t>(rows) * 3; i++) seeds[i] = static_cast<float>(i % 7) - 3;
  workspace.backward();
  const auto copy = [](const void* from, size_t count) {
    const auto* values = static_cast<const float*>(from);
    return std::vector<float>(values, values + count);
  };
  return {copy(workspace.fetched(0), static_cast<size_t>(rows) * 3),
          copy(workspace.feed_gradient(0), x.size()),
          copy(workspace.feed_gradient(1), 35),
          copy(workspace.feed_gradient(2), 7),
          copy(workspace.feed_gradient(3), 21),
          copy(workspace.feed_gradient(4), 3)};
}

TEST(Plan, FusedLayersAreTheirOperators) {
  for (const char* activation : {"Relu", "LeakyRelu", "Tanh", "Sigmoid", "Softplus"}) {
    for (const int64_t rows : {1, 3, 16, 70, 300}) {
      SCOPED_TRACE(std::string(activation) + " " + std::to_string(rows));
      const Results fused = run(activation, rows, true);
      const Results plain = run(activation, rows, false);
      // A bias starts the sum instead of ending it, and sums over rows run in another order.
      const auto near = [](const std::vector<float>& a, const std::vector<float>& b, float scale) {
        for (size_t i = 0; i < a.size(); i++) EXPECT_NEAR(a[i], b[i], 1e-5F * scale) << i;
      };
      near(fused.outputs, plain.outputs, 1);
      near(fused.by_rows, plain.by_rows, 4);
      const auto scale = static_cast<float>(10 * rows);
      near(fused.by_w, plain.by_w, scale);
      near(fused.by_b, plain.by_b, scale);
      near(fused.by_v, plain.by_v, scale);
      near(fused.by_c, plain.by_c, scale);
    }
  }
}

TEST(Plan, ARowsBitsDoNotDependOnItsBatch) {
  const Results all = run("LeakyRelu", 300, true);
  for (const int64_t rows : {1, 2, 17, 64, 255}) {
    const Results some = run("LeakyRelu", rows, true);
    EXPECT_EQ(std::memcmp(all.outputs.data(), some.outputs.data(), some.outputs.size() * sizeof(float)), 0) << rows;
    EXPECT_EQ(std::memcmp(all.by_rows.data(), some.by_rows.data(), some.by_rows.size() * sizeof(float)), 0) << rows;
  }
}

TEST(Plan, MultipliersAreCompleteThroughFusedLayers) {
  const Graph graph("m.onnx", two_layers("Tanh"));
  PlanRequest request;
  request.feeds = {{"x", rows_of(4, 5), true}};
  request.fetches = {"y"};
  const Plan plan(graph, request);
  Workspace at(plan);
  Workspace base(plan);
  std::vector<float> x(20);
  std::vector<float> r(20);
  RandomStream stream(9, "rows");
  for (float& each : x) each = static_cast<float>(stream.normal());
  for (float& each : r) each = static_cast<float>(stream.normal());
  at.feed(0, x.data());
  base.feed(0, r.data());
  at.forward();
  base.forward();
  std::memset(at.fetch_gradient(0), 0, 12 * sizeof(float));
  for (size_t row = 0; row < 4; row++) static_cast<float*>(at.fetch_gradient(0))[row * 3 + 1] = 1;
  at.rescale(base);
  for (size_t row = 0; row < 4; row++) {
    double total = 0;
    for (size_t i = row * 5; i < row * 5 + 5; i++) {
      total += static_cast<const float*>(at.feed_gradient(0))[i] * static_cast<double>(x[i] - r[i]);
    }
    const double expected = static_cast<const float*>(at.fetched(0))[row * 3 + 1] -
                            static_cast<double>(static_cast<const float*>(base.fetched(0))[row * 3 + 1]);
    EXPECT_NEAR(total, expected, 1e-5);
  }
}

// A convolution takes the ReLU behind it along, also when it works in pieces.
TEST(Plan, AFusedReluGivesTheSameBits) {
  std::vector<float> w(5 * 40 * 9);
  std::vector<float> x(2 * 40 * 16 * 16);
  RandomStream stream(5, "fused relu");
  for (auto* values : {&w, &x}) {
    for (float& each : *values) each = static_cast<float>(stream.normal());
  }
  for (const char* activation : {"Relu", "LeakyRelu"}) {
    const Graph graph("m.onnx", model({node("Conv", {"x", "w"}, {"c"}), node(activation, {"c"}, {"y"})},
                                      {value("x", {-1, 40, 16, 16})}, {value("y", {-1, 5, 14, 14})},
                                      {floats("w", {5, 40, 3, 3}, w)}));
    std::vector<std::vector<float>> outputs;
    for (const bool fuse : {true, false}) {
      PlanRequest request;
      request.fuse = fuse;
      request.feeds = {{"x", {OnnxElement::float32, {2, 40, 16, 16}, nullptr}}};
      request.fetches = {"y"};
      const Plan plan(graph, request);
      EXPECT_EQ(plan.step_count(), fuse ? 1U : 2U);
      Workspace workspace(plan);
      workspace.feed(0, x.data());
      workspace.forward();
      const auto* values = static_cast<const float*>(workspace.fetched(0));
      outputs.emplace_back(values, values + plan.fetched(0).count());
    }
    EXPECT_EQ(outputs[0], outputs[1]) << activation;
  }
}

// The chain that exporters leave around x.view(x.size(0), -1).
TEST(Plan, ShapesOfShapesAreKnownWhenTheBatchIs) {
  const Graph graph("m.onnx",
                    model({node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}),
                           node("Unsqueeze", {"n", "axes"}, {"n1"}),
                           node("Concat", {"n1", "rest"}, {"shape"}, {int_attribute("axis", 0)}),
                           node("Relu", {"x"}, {"a"}), node("Reshape", {"a", "shape"}, {"y"})},
                          {value("x", {-1, 2, 3})}, {value("y", {-1, 6})},
                          {integers("zero", {}, {0}), integers("axes", {1}, {0}), integers("rest", {1}, {-1})}));
  PlanRequest request;
  request.feeds = {{"x", {OnnxElement::float32, {5, 2, 3}, nullptr}}};
  request.fetches = {"y"};
  const Plan plan(graph, request);
  EXPECT_EQ(plan.step_count(), 2U);
  EXPECT_EQ(plan.fetched(0).dims, (Shape{5, 6}));
}

TEST(Plan, AValueUsedTwiceCollectsBothDerivatives) {
  const Graph graph("m.onnx", model({node("Mul", {"x", "x"}, {"s"}), node("Add", {"s", "x"}, {"y"})},
                                    {value("x", {-1, 2})}, {value("y", {-1, 2})}));
  PlanRequest request;
  request.feeds = {{"x", rows_of(1, 2), true}};
  request.fetches = {"y"};
  const Plan plan(graph, request);
  Workspace workspace(plan);
  const std::vector<float> x = {3, -2};
  workspace.feed(0, x.data());
  workspace.forward();
  for (size_t i = 0; i < 2; i++) static_cast<float*>(workspace.fetch_gradient(0))[i] = 1;
  workspace.backward();
  EXPECT_EQ(static_cast<const float*>(workspace.feed_gradient(0))[0], 7);
  EXPECT_EQ(static_cast<const float*>(workspace.feed_gradient(0))[1], -3);
}

TEST(Plan, AValueInTheMiddleCanBeFedAndFetched) {
  const Graph graph("m.onnx", two_layers("Relu"));
  PlanRequest request;
  request.feeds = {{"a", rows_of(1, 7)}};
  request.fetches = {"p", "a"};
  const Plan plan(graph, request);
  Workspace workspace(plan);
  const std::vector<float> a(7, 0);
  workspace.feed(0, a.data());
  workspace.forward();
  EXPECT_EQ(static_cast<const float*>(workspace.fetched(0))[0], 0);
  EXPECT_EQ(workspace.fetched(1), a.data());
}

TEST(Plan, MemoryIsUsedAgainWithoutMixingValues) {
  // Eight layers of the same size fit in the place of few, and an early value is still right when read last.
  std::vector<OnnxNode> nodes = {node("Neg", {"x"}, {"v0"})};
  for (int i = 1; i < 8; i++) nodes.push_back(node("Abs", {"v" + std::to_string(i - 1)}, {"v" + std::to_string(i)}));
  nodes.push_back(node("Sub", {"v7", "v0"}, {"y"}));
  const Graph graph("m.onnx", model(nodes, {value("x", {-1, 64})}, {value("y", {-1, 64})}));
  PlanRequest request;
  request.feeds = {{"x", rows_of(4, 64)}};
  request.fetches = {"y"};
  const Plan plan(graph, request);
  EXPECT_LE(plan.workspace_bytes(), 4 * 4 * 64 * sizeof(float));
  Workspace workspace(plan);
  std::vector<float> x(256);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i) - 100;
  workspace.feed(0, x.data());
  workspace.forward();
  for (size_t i = 0; i < x.size(); i++)
    EXPECT_EQ(static_cast<const float*>(workspace.fetched(0))[i], std::abs(x[i]) + x[i]);
}

TEST(Plan, RefusalsNameTheNode) {
  const Graph graph("m.onnx", two_layers("Relu"));
  PlanRequest request;
  request.feeds = {{"x", rows_of(2, 6)}};
  request.fetches = {"y"};
  EXPECT_THAT(sentence([&] { const Plan plan(graph, request); }), HasSubstr("m.onnx: node 1 (Gemm)"));
  request.feeds = {};
  EXPECT_THAT(sentence([&] { const Plan plan(graph, request); }), HasSubstr("its input 'x' is not given"));
  request.feeds = {{"x", rows_of(2, 5)}};
  request.fetches = {"q"};
  EXPECT_THAT(sentence([&] { const Plan plan(graph, request); }), HasSubstr("m.onnx: it has no value 'q'"));
  request.fetches = {"y"};
  request.feeds = {{"x", rows_of(int64_t{1} << 24, 5)}};
  Context context;
  context.budget.bytes = 1 << 20;
  EXPECT_THAT(sentence([&] { const Plan plan(graph, request, context); }), HasSubstr("at most 1048576"));
}

}  // namespace
}  // namespace assay::testing

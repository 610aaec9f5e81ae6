// Convolutions that read images where they lie have the bits of those over patches; fused steps those of single ones.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "assay/core/random.h"
#include "assay/model/graph/plan.h"
#include "assay/model/graph/rows_apart.h"
#include "assay/model/model_file.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

std::vector<float> drawn(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  RandomStream random(seed, "direct conv");
  for (float& each : values) each = static_cast<float>(random.normal());
  return values;
}

struct Case {
  Shape x, w;
  std::vector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0}, dilations = {1, 1};
  int64_t group = 1;
};

OnnxModel conv_then_pool(const Case& at, bool bias) {
  std::vector<std::string> inputs = {"x", "w"};
  if (bias) inputs.push_back("b");
  OnnxModel made = model(
      {node("Conv", inputs, {"c"},
            {ints_attribute("strides", at.strides), ints_attribute("pads", at.pads),
             ints_attribute("dilations", at.dilations), int_attribute("group", at.group)}),
       node("Relu", {"c"}, {"a"}),
       node("MaxPool", {"a"}, {"y"}, {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})})},
      {value("x", {-1, at.x[1], at.x[2], at.x[3]})}, {value("y", {-1, at.w[0], -1, -1})},
      {floats("w", at.w, drawn(element_count(at.w), 2))});
  if (bias) {
    made.graph.initializers.push_back(floats("b", {at.w[0]}, drawn(static_cast<size_t>(at.w[0]), 3)));
  }
  return made;
}

// Weights that are fed are not packed: patches are copied.
std::vector<float> fetched(const Graph& graph, const Case& at, const char* fetch, bool fuse, bool weights_fed,
                           size_t* steps = nullptr) {
  PlanRequest request;
  request.fuse = fuse;
  request.feeds = {{"x", {OnnxElement::float32, at.x, nullptr}, false}};
  if (weights_fed) request.feeds.push_back({"w", {OnnxElement::float32, at.w, nullptr}, false});
  request.fetches = {fetch};
  const Plan plan(graph, request);
  if (steps != nullptr) *steps = plan.step_count();
  Workspace workspace(plan);
  const std::vector<float> x = drawn(element_count(at.x), 1);
  workspace.feed(0, x.data());
  if (weights_fed) workspace.feed(1, graph.constant(graph.find_value("w"))->raw());
  workspace.forward();
  const auto* values = static_cast<const float*>(workspace.fetched(0));
  return {values, values + plan.fetched(0).count()};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(DirectConv, HasTheBitsOfPatches) {
  const std::vector<Case> cases = {
      {{3, 1, 28, 28}, {32, 1, 5, 5}},
      {{2, 32, 12, 12}, {64, 32, 5, 5}},
      {{2, 3, 9, 7}, {16, 3, 3, 3}},                                     // odd lines and columns, half a pack
      {{2, 3, 9, 30}, {48, 3, 3, 2}, {1, 1}, {1, 2, 0, 1}},              // padding, one and a half packs
      {{1, 4, 11, 40}, {31, 4, 3, 3}, {2, 1}, {1, 1, 1, 1}},             // a channel that is not there
      {{2, 8, 10, 10}, {64, 4, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}, 2},  // groups and dilation
      {{1, 2, 40, 300}, {32, 2, 3, 3}},                                  // several strips
  };
  for (const Case& at : cases) {
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(onnx_shape_text(at.x) + " by " + onnx_shape_text(at.w));
      const Graph graph("m.onnx", conv_then_pool(at, bias));
      const std::vector<float> patches = fetched(graph, at, "c", false, true);
      EXPECT_TRUE(same_bits(patches, fetched(graph, at, "c", false, false)));
      EXPECT_TRUE(same_bits(fetched(graph, at, "a", false, true), fetched(graph, at, "a", true, false)));
      size_t steps = 0;
      const std::vector<float> pooled = fetched(graph, at, "y", false, true);
      EXPECT_TRUE(same_bits(pooled, fetched(graph, at, "y", true, false, &steps)));
      EXPECT_EQ(steps, 1U);
      EXPECT_TRUE(same_bits(pooled, fetched(graph, at, "y", true, true, &steps)));
      EXPECT_EQ(steps, 2U);  // patches and pooling are two
    }
  }
}

TEST(DirectConv, APlanWithOtherImagesPacksItsOwn) {
  const Case small = {{1, 2, 9, 9}, {16, 2, 3, 3}};
  Case large = small;
  large.x = {1, 2, 14, 11};
  OnnxModel made = conv_then_pool(small, true);
  made.graph.inputs = {value("x", {-1, 2, -1, -1})};
  const Graph graph("m.onnx", made);
  for (const Case& at : {small, large, small}) {
    EXPECT_TRUE(same_bits(fetched(graph, at, "y", false, true), fetched(graph, at, "y", true, false)));
  }
}

TEST(RowsApart, IsTrueOnlyWhereItIsCertain) {
  const auto apart = [](std::vector<OnnxNode> nodes, std::vector<OnnxTensor> weights) {
    return keeps_rows_apart(
        Graph("m.onnx", model(std::move(nodes), {value("x", {-1, 4})}, {value("y", {-1, 4})}, std::move(weights))),
        {"y"});
  };
  const OnnxTensor square = floats("w", {4, 4}, drawn(16, 1));
  EXPECT_TRUE(apart({node("MatMul", {"x", "w"}, {"h"}), node("Relu", {"h"}, {"y"})}, {square}));
  EXPECT_TRUE(apart({node("Gemm", {"x", "w", "b"}, {"y"})}, {square, floats("b", {4}, drawn(4, 1))}));
  // A bias with a line for each row, rows that are columns, rows on the right, a sum with itself, another axis.
  EXPECT_FALSE(apart({node("Gemm", {"x", "w", "b"}, {"y"})}, {square, floats("b", {4, 4}, drawn(16, 1))}));
  EXPECT_FALSE(apart({node("Gemm", {"x", "w"}, {"y"}, {int_attribute("transA", 1)})}, {square}));
  EXPECT_FALSE(apart({node("MatMul", {"w", "x"}, {"y"})}, {square}));
  EXPECT_FALSE(apart({node("Add", {"x", "b"}, {"y"})}, {floats("b", {4, 1}, drawn(4, 1))}));
  EXPECT_FALSE(apart({node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 0)})}, {}));
  EXPECT_FALSE(apart({node("MatMul", {"x", "w"}, {"y"})}, {floats("w", {1, 4, 4}, drawn(16, 1))}));
  EXPECT_FALSE(
      apart({node("ReduceMean", {"x"}, {"m"}, {ints_attribute("axes", {0})}), node("Sub", {"x", "m"}, {"y"})}, {}));
}

TEST(ModelFile, LargeWeightsStayWhereTheyLieInTheFile) {
  // Names of different lengths: the weights begin at all places beside a multiple of four. The last is short.
  for (size_t length = 1; length <= 5; length++) {
    const std::string name(length, 'w');
    OnnxModel written =
        model({node("MatMul", {"x", name}, {"h"}), node("MatMul", {"h", "v"}, {"a"}), node("Add", {"a", "b"}, {"y"})},
              {value("x", {-1, 150})}, {value("y", {-1, 150})},
              {floats(name, {150, 150}, drawn(22500, 1)), floats("v", {150, 150}, drawn(22500, 2)),
               floats("b", {150}, drawn(150, 3))});
    const std::string path = ::testing::TempDir() + "kept_weights.onnx";
    std::ofstream(path, std::ios::binary) << serialise_onnx(written);
    const OnnxModel found = read_model(path);
    EXPECT_EQ(found, written);
    EXPECT_NE(found.graph.initializers[0].raw.keeper(), nullptr);
    EXPECT_EQ(found.graph.initializers[2].raw.keeper(), nullptr);
    const Graph graph("m.onnx", found);
    const Tensor& weights = *graph.constant(graph.find_value(name));
    EXPECT_EQ(weights.raw(), static_cast<const void*>(std::as_const(found.graph.initializers[0].raw).data()));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.raw()) % sizeof(float), 0U);
    // What changes a tensor leaves the file's bytes to the others.
    OnnxModel copy = found;
    copy.graph.initializers[0].raw.data()[0] ^= 1;
    EXPECT_EQ(found, written);
    EXPECT_NE(copy, written);
  }
}

}  // namespace
}  // namespace assay::testing

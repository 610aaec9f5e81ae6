// What a model file may take: memory is counted before it is taken, constants are computed within limits, and loading
// stops when it is told to.
#include "assay/core/budget.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <thread>

#include "assay/model/engine_model.h"
#include "assay/model/graph/fold.h"
#include "assay/model/graph/plan.h"
#include "assay/model/graph/row_runner.h"
#include "assay/model/model_file.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// ConstantOfShape, which makes much of a few bytes; all ones.
OnnxNode ones(const std::string& shape, const std::string& output) {
  OnnxAttribute value;
  value.name = "value";
  value.kind = OnnxAttributeKind::one_tensor;
  value.tensors = {floats("", {1}, {1})};
  return node("ConstantOfShape", {shape}, {output}, {value});
}

// Products of square matrices of ones, one after another, added to the rows.
OnnxModel products(size_t count, int64_t size) {
  std::vector<OnnxNode> nodes = {ones("s", "p0")};
  for (size_t i = 0; i < count; i++) {
    nodes.push_back(node("MatMul", {fmt::format("p{}", i), "p0"}, {fmt::format("p{}", i + 1)}));
    nodes.back().name = fmt::format("product {}", i + 1);
  }
  nodes.push_back(node("MatMul", {"x", fmt::format("p{}", count)}, {"y"}));
  return model(nodes, {value("x", {-1, size})}, {value("y", {-1, size})}, {integers("s", {2}, {size, size})});
}

TEST(Folding, RefusesANodeThatCannotBeInterruptedInTime) {
  // 3000^3 = 27e9 multiply-adds and 3 * 3000^2 elements.
  EXPECT_EQ(sentence([] { const Graph graph("m.onnx", products(60, 3000)); }),
            "m.onnx: node 'product 1' (MatMul): it depends on weights alone, and computing it takes 27027000000 steps; "
            "at most 4294967296 are allowed");
}

TEST(Folding, RefusesManyNodesThatTakeTooMuchTogether) {
  Context context;
  // Each takes 100^3 + 3 * 100^2 = 1.03e6 steps, and the ones 10^4 + 2.
  context.budget.steps = 2 * 1'030'000 + 10'002;
  EXPECT_THAT(sentence([&] { const Graph graph("m.onnx", products(3, 100), context); }),
              AllOf(StartsWith("m.onnx: node 'product 3' (MatMul): it takes 3.1 million steps"),
                    HasSubstr("at most 2.07 million are allowed")));
  const Graph graph("m.onnx", products(2, 100), context);
  EXPECT_EQ(graph.nodes().size(), 1U);
}

TEST(Folding, CountsMemoryBeforeItIsTaken) {
  Context context;
  context.budget.bytes = 3 * 40'000;  // three matrices of 100 x 100
  const Graph fits("m.onnx", products(2, 100), context);
  EXPECT_THAT(sentence([&] { const Graph graph("m.onnx", products(3, 100), context); }),
              StartsWith("m.onnx: node 'product 3' (MatMul): it needs 10000 elements of 4 bytes"));
  // A pooling window as large as its input: quadratic, though its values are small.
  const auto pooled = [](int64_t length) {
    return model({ones("s", "c"),
                  node("AveragePool", {"c"}, {"a"},
                       {ints_attribute("kernel_shape", {length}), ints_attribute("pads", {length - 1, length - 1})}),
                  node("ReduceSum", {"a"}, {"t"}, {int_attribute("keepdims", 0)}), node("Mul", {"x", "t"}, {"y"})},
                 {value("x", {-1, 1})}, {value("y", {-1, 1})}, {integers("s", {3}, {1, 1, length})});
  };
  EXPECT_EQ(Graph("m.onnx", pooled(50)).nodes().size(), 1U);
  // Each element is in 25,000 windows: 8 * 25,000^2 steps, and 25,000 + 49,999 elements.
  EXPECT_THAT(sentence([&] { const Graph graph("m.onnx", pooled(25'000)); }),
              AllOf(StartsWith("m.onnx: node 2 (AveragePool)"), HasSubstr("5000074999 steps")));
}

OnnxNode maximum_of_all(const std::string& input, const std::string& output, int64_t kernel) {
  return node("MaxPool", {input}, {output},
              {ints_attribute("kernel_shape", {kernel, kernel}), text_attribute("auto_pad", "SAME_UPPER")});
}

// The square of 2^32 is 0 in 64 bits.
TEST(Folding, CountsTheElementsOfWindowsThatAreInside) {
  const auto pooled = [](int64_t size, int64_t kernel) {
    return model({ones("s", "c"), maximum_of_all("c", "p", kernel),
                  node("ReduceMax", {"p"}, {"t"}, {int_attribute("keepdims", 0)}), node("Mul", {"x", "t"}, {"y"})},
                 {value("x", {-1, 1})}, {value("y", {-1, 1})}, {integers("s", {4}, {1, 1, size, size})});
  };
  for (const int64_t kernel : {int64_t{1} << 10, int64_t{1} << 32, int64_t{1} << 40}) {
    // All of 256 x 256 elements are in all windows: 8 * 2^32 steps, and 2^17 elements.
    EXPECT_THAT(sentence([&] { const Graph graph("m.onnx", pooled(256, kernel)); }),
                AllOf(StartsWith("m.onnx: node 2 (MaxPool)"), HasSubstr("takes 34359869440 steps")))
        << kernel;
    EXPECT_EQ(Graph("m.onnx", pooled(16, kernel)).nodes().size(), 1U);
  }
}

TEST(Folding, CountsTextThatComesOutAgainAndAgain) {
  OnnxTensor text;
  text.name = "t";
  text.type = OnnxElement::string;
  text.dims = {1};
  text.strings = {std::string(1 << 20, 'a')};
  const OnnxModel file = model({node("Expand", {"t", "s"}, {"e"}), node("Equal", {"x", "e"}, {"y"})},
                               {value("x", {-1, 4096}, OnnxElement::string)},
                               {value("y", {-1, 4096}, OnnxElement::boolean)}, {text, integers("s", {1}, {4096})});
  EXPECT_THAT(sentence([&] { const Graph graph("m.onnx", file); }),
              StartsWith("m.onnx: node 1 (Expand): it takes 4 GiB of memory; at most 1 GiB"));
}

TEST(Folding, LeavesHonestModelsAlone) {
  // 64 MB of weights, turned and halved.
  const std::vector<float> weights(size_t{1} << 24, 1.0F);
  const Graph graph("m.onnx", model({node("Transpose", {"w"}, {"t"}), node("Mul", {"t", "h"}, {"v"}),
                                     node("MatMul", {"x", "v"}, {"y"})},
                                    {value("x", {-1, 4096})}, {value("y", {-1, 4096})},
                                    {floats("w", {4096, 4096}, weights), floats("h", {}, {0.5F})}));
  EXPECT_EQ(graph.nodes().size(), 1U);
  EXPECT_EQ(graph.initializer_bytes(), (size_t{1} << 26) + 4);
}

// A product by a constant whose memory the file does not have, and a sum over it: 4 features in, 1 out.
OnnxModel wide(int64_t width) {
  return model({ones("s", "c"), node("MatMul", {"x", "c"}, {"h"}),
                node("ReduceSum", {"h", "axes"}, {"y"}, {int_attribute("keepdims", 1)})},
               {value("x", {-1, 4})}, {value("y", {-1, 1})},
               {integers("s", {2}, {4, width}), integers("axes", {1}, {1})});
}

PlanRequest rows_through(int64_t rows, bool gradient = false) {
  PlanRequest request;
  request.feeds = {{"x", {OnnxElement::float32, {rows, 4}, nullptr}, gradient}};
  request.fetches = {"y"};
  return request;
}

// Whatever a plan is made of, one byte less than it says it takes is too little.
TEST(PlanMemory, IsWhatThePlanSaysItTakes) {
  // 200,000 columns are fused, and have 3 * 16 rows of scratch; 300,000 are not.
  for (const int64_t width : {1000, 200'000, 300'000}) {
    const Graph graph("m.onnx", wide(width));
    for (const bool gradient : {false, true}) {
      const Plan plan(graph, rows_through(2, gradient));
      if (width == 200'000) {
        EXPECT_GE(plan.workspace_bytes(), 3U * 16 * 200'000 * sizeof(float));
      }
      Context context;
      context.budget.bytes = plan.held_bytes() + plan.workspace_bytes();
      EXPECT_EQ(message_of([&] { const Plan same(graph, rows_through(2, gradient), context); }), "no error");
      context.budget.bytes--;
      EXPECT_THAT(sentence([&] { const Plan same(graph, rows_through(2, gradient), context); }),
                  StartsWith("m.onnx: one block of rows: it takes"))
          << width;
      // Where nothing is run, nothing is counted.
      PlanRequest described = rows_through(2, gradient);
      described.run = false;
      EXPECT_EQ(message_of([&] { const Plan same(graph, described, context); }), "no error");
      context.budget.bytes = 4 * static_cast<size_t>(width) * sizeof(float);  // 4 of 100 rows
      described.feeds[0].info.dims[0] = 100;
      EXPECT_EQ(message_of([&] { const Plan same(graph, described, context); }), "no error");
    }
  }
}

TEST(PlanMemory, WideLayersTakeNoTilesOfManyRows) {
  const Graph graph("m.onnx", wide(int64_t{1} << 23));
  const Plan plan(graph, rows_through(1));
  // One row of 2^23 numbers, and little else.
  EXPECT_LT(plan.workspace_bytes(), (size_t{1} << 25) + 4096);
}

TEST(PlanMemory, CopiesThatKernelsMakeCount) {
  // A constant that is turned, and is no weight of the file: 1000 x 1000.
  const Graph graph("m.onnx",
                    model({ones("s", "c"), node("Gemm", {"x", "c"}, {"y"}, {int_attribute("transB", 1)})},
                          {value("x", {-1, 1000})}, {value("y", {-1, 1000})}, {integers("s", {2}, {1000, 1000})}));
  PlanRequest request;
  request.feeds = {{"x", {OnnxElement::float32, {1, 1000}, nullptr}}};
  request.fetches = {"y"};
  request.fuse = false;
  const Plan plan(graph, request);
  EXPECT_GE(plan.held_bytes(), 4'000'000U - 2 * 16);
  request.fuse = true;
  // A chain reads the weights where they lie.
  EXPECT_EQ(Plan(graph, request).held_bytes(), 0U);
  Context context;
  context.budget.bytes = 3'000'000;
  request.fuse = false;
  EXPECT_THAT(sentence([&] { const Plan same(graph, request, context); }),
              StartsWith("m.onnx: node 2 (Gemm): it takes 3.8 MiB of memory; at most 2.9 MiB"));
  // Weights that the file has may be held twice over.
  const Graph own("m.onnx",
                  model({node("Gemm", {"x", "c"}, {"y"}, {int_attribute("transB", 1)})}, {value("x", {-1, 1000})},
                        {value("y", {-1, 1000})}, {floats("c", {1000, 1000}, std::vector<float>(1'000'000, 1.0F))}));
  EXPECT_EQ(message_of([&] { const Plan same(own, request, context); }), "no error");
}

std::vector<RowInput> four_columns() { return {{"x", OnnxElement::float32, {4}, 0, 4}}; }

TEST(RowRunnerMemory, FewerThreadsRunWhereBlocksAreLarge) {
  const auto graph = std::make_shared<Graph>("m.onnx", wide(100'000));
  const RowRunner runner(graph, four_columns(), nullptr, {"y"}, false, 0);
  Matrix rows(64, 4);
  for (size_t i = 0; i < rows.values().size(); i++) rows.values()[i] = static_cast<float>(i % 13);
  const auto most_at_once = [&](const Context& context, std::vector<float>& out) {
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    out.assign(rows.rows(), 0);
    runner.run(rows.view(), context, [&](const Block& block, Workspace& workspace) {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      workspace.forward();
      std::copy_n(static_cast<const float*>(workspace.fetched(0)), block.end - block.begin, &out[block.begin]);
      running--;
    });
    return most.load();
  };
  Context context;
  context.threads = 8;
  std::vector<float> all;
  most_at_once(context, all);
  context.budget.bytes = runner.block_bytes() * 3 / 2;
  std::vector<float> alone;
  EXPECT_EQ(most_at_once(context, alone), 1);
  EXPECT_EQ(alone, all);
  for (size_t r = 0; r < rows.rows(); r++) {
    EXPECT_EQ(all[r], 100'000 * (rows(r, 0) + rows(r, 1) + rows(r, 2) + rows(r, 3)));
  }
}

TEST(RowRunnerMemory, ARowThatFitsAloneRunsAlone) {
  const auto graph = std::make_shared<Graph>("m.onnx", wide(1'000'000));
  Context context;
  context.budget.bytes = 6'000'000;  // 4 MB a row
  const RowRunner runner(graph, four_columns(), nullptr, {"y"}, false, 0, false, context);
  EXPECT_EQ(runner.block_rows(), 1U);
  EXPECT_EQ(message_of([&] { runner.check_rows_apart(context); }), "no error");
  context.budget.bytes = 3'000'000;
  EXPECT_THAT(sentence([&] { const RowRunner small(graph, four_columns(), nullptr, {"y"}, false, 0, false, context); }),
              HasSubstr("m.onnx: "));
}

// For 16 rows they are rows, for others they are not: no smaller block makes that good.
TEST(RowRunnerMemory, OnlyMemoryMakesBlocksSmaller) {
  const auto graph =
      std::make_shared<Graph>("m.onnx", model({node("Reshape", {"x", "s"}, {"y"})}, {value("x", {-1, 4})},
                                              {value("y", {-1, 4})}, {integers("s", {2}, {16, -1})}));
  EXPECT_EQ(sentence([&] { const RowRunner runner(graph, four_columns(), nullptr, {"y"}, false, 0); }),
            "m.onnx: value 'y' has the dimensions 16 x 256 for 1024 rows; the first must be the row");
}

// What only some methods use must not make a model unusable.
TEST(LoadingMemory, WhatPredictsIsLoaded) {
  const auto graph = std::make_shared<Graph>("m.onnx", wide(10'000));
  size_t loaded = 0;
  for (uint64_t bytes = 1'000'000; bytes < 16'000'000; bytes += 10'000) {
    Context context;
    context.budget.bytes = bytes;
    const bool predicts =
        message_of([&] {
          RowRunner(graph, four_columns(), nullptr, {"y"}, false, 0, false, context).check_rows_apart(context);
        }) == "no error" &&
        message_of([&] { const Graph same("m.onnx", wide(10'000), context); }) == "no error";
    if (!predicts) continue;
    loaded++;
    EXPECT_EQ(message_of([&] { EngineModel::from_onnx("m.onnx", wide(10'000), {}, context); }), "no error") << bytes;
  }
  EXPECT_GT(loaded, 3U);
}

ErrorKind kind_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

// Each row is a picture of 256 x 256, whose every window is the whole.
OnnxModel slow_rows(size_t pools, int64_t kernel) {
  std::vector<OnnxNode> nodes = {ones("s", "c"), node("Reshape", {"x", "f"}, {"r"}), node("Mul", {"r", "c"}, {"p0"})};
  for (size_t i = 0; i < pools; i++)
    nodes.push_back(maximum_of_all(fmt::format("p{}", i), fmt::format("p{}", i + 1), kernel));
  nodes.push_back(node("ReduceMax", {fmt::format("p{}", pools)}, {"m"},
                       {ints_attribute("axes", {2, 3}), int_attribute("keepdims", 0)}));
  nodes.push_back(node("Identity", {"m"}, {"y"}));
  return model(nodes, {value("x", {-1, 1})}, {value("y", {-1, 1})},
               {integers("s", {4}, {1, 1, 256, 256}), integers("f", {4}, {-1, 1, 1, 1})});
}

TEST(Loading, TriesNoRowsThatTakeTooLong) {
  EXPECT_LT(serialise_onnx(slow_rows(1, 512)).size(), 500U);
  const std::clock_t begun = std::clock();
  EXPECT_EQ(message_of([&] { EngineModel::from_onnx("m.onnx", slow_rows(1, 512)); }), "no error");
  EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, 5);  // a minute with the trial
}

TEST(Loading, TriesRowsWithinItsSteps) {
  // Rows that depend on one another, which only a trial shows.
  const OnnxModel joined = model({node("ReduceSum", {"x", "axes"}, {"t"}), node("Add", {"x", "t"}, {"y"})},
                                 {value("x", {-1, 4})}, {value("y", {-1, 4})}, {integers("axes", {1}, {0})});
  EXPECT_THAT(sentence([&] { EngineModel::from_onnx("m.onnx", joined); }), HasSubstr("depends on the other rows"));
  Context context;
  context.budget.steps = 50;
  EXPECT_EQ(message_of([&] { EngineModel::from_onnx("m.onnx", joined, {}, context); }), "no error");
}

TEST(Loading, StopsAmidATrial) {
  std::atomic<bool> cancelled = false;
  Context context;
  context.cancelled = &cancelled;
  context.budget.steps = UINT64_MAX;
  // Two hundred kernels of about 50 ms each for two rows.
  const auto graph = std::make_shared<Graph>("m.onnx", slow_rows(200, 16));
  const RowRunner runner(graph, {{"x", OnnxElement::float32, {1}, 0, 1}}, nullptr, {"y"}, false, 0, false, context);
  const std::clock_t begun = std::clock();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancelled = true;
  });
  EXPECT_EQ(kind_of([&] { runner.check_rows_apart(context); }), ErrorKind::cancelled);
  stopper.join();
  EXPECT_LT(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC, 2);
}

// 198 bytes in its file: 4 x 2^23 ones.
TEST(LoadingMemory, AWideConstantRuns) {
  const auto wide_model = EngineModel::from_onnx("m.onnx", wide(int64_t{1} << 23));
  EXPECT_LE(wide_model->block_bytes(), size_t{1} << 27);
  Matrix rows(3, 4);
  Matrix outputs(3, 1);
  rows(1, 2) = 1;
  rows(2, 0) = -2;
  wide_model->predict(rows.view(), outputs.view(), {});
  EXPECT_EQ(outputs(0, 0), 0);
  EXPECT_EQ(outputs(1, 0), 0x1p23F);
  EXPECT_EQ(outputs(2, 0), -0x1p24F);
}

TEST(Loading, StopsWhenItIsTold) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  EXPECT_EQ(kind_of([&] { const Graph graph("m.onnx", wide(4), context); }), ErrorKind::cancelled);
  EXPECT_EQ(kind_of([&] { parse_model("m.onnx", serialise_onnx(wide(4)), "", context); }), ErrorKind::cancelled);
  EXPECT_EQ(kind_of([&] { EngineModel::from_onnx("m.onnx", wide(4), {}, context); }), ErrorKind::cancelled);
  // Also where a second way is tried when the first fails: a batch that the file fixes.
  OnnxModel fixed = wide(4);
  fixed.graph.inputs = {value("x", {2, 4})};
  EXPECT_EQ(kind_of([&] { EngineModel::from_onnx("m.onnx", fixed, {}, context); }), ErrorKind::cancelled);
  const auto graph = std::make_shared<Graph>("m.onnx", wide(4));
  EXPECT_EQ(kind_of([&] { const RowRunner made(graph, four_columns(), nullptr, {"y"}, true, 0, false, context); }),
            ErrorKind::cancelled);
  EXPECT_EQ(kind_of([&] {
              parse_model("m.txt",
                          "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\n"
                          "feature_names=a\nobjective=regression\n\nTree=0\nnum_leaves=1\n"
                          "num_cat=0\nleaf_value=1\n\nend of trees\n",
                          "", context);
            }),
            ErrorKind::cancelled);
  std::string json = R"({"learner":{"x":[1)";
  for (int i = 0; i < 1 << 15; i++) json += ",1";
  json += "]}}";
  EXPECT_EQ(kind_of([&] { parse_model("m.json", json, "", context); }), ErrorKind::cancelled);
}

}  // namespace
}  // namespace assay::testing

#include "assay/model/engine_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "assay/core/random.h"
#include "assay/data/kept_doubles.h"
#include "assay/model/trees/booster.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/ops/trees.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> numbers(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  RandomStream stream(seed, "graph model test");
  for (float& value : values) value = static_cast<float>(stream.normal());
  return values;
}

Matrix some_rows(size_t rows, size_t columns, uint64_t seed = 5) {
  Matrix x(rows, columns);
  const std::vector<float> values = numbers(rows * columns, seed);
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

// 4 features, 6 hidden, 3 classes.
OnnxModel classifier(std::vector<OnnxNode> end, std::vector<OnnxValue> outputs) {
  std::vector<OnnxNode> nodes = {node("Gemm", {"x", "w", "b"}, {"h"}), node("Relu", {"h"}, {"a"}),
                                 node("Gemm", {"a", "v", "c"}, {"z"})};
  nodes.insert(nodes.end(), end.begin(), end.end());
  return model(nodes, {value("x", {-1, 4})}, std::move(outputs),
               {floats("w", {4, 6}, numbers(24, 1)), floats("b", {6}, numbers(6, 2)),
                floats("v", {6, 3}, numbers(18, 3)), floats("c", {3}, numbers(3, 4))});
}

std::unique_ptr<EngineModel> softmax_model(std::optional<OutputUnit> unit = {}) {
  EngineModelOptions options;
  options.unit = unit;
  return EngineModel::from_onnx("m.onnx", classifier({node("Softmax", {"z"}, {"p"})}, {value("p", {-1, 3})}), options);
}

Matrix outputs_of(const Model& model, const Matrix& x, unsigned threads = 1) {
  Matrix y(x.rows(), model.info().outputs());
  Context context;
  context.threads = threads;
  model.predict(x.view(), y.view(), context);
  return y;
}

TEST(EngineModel, UnitsAreFunctionsOfTheMargin) {
  const Matrix x = some_rows(50, 4);
  const auto margins = softmax_model();
  EXPECT_EQ(margins->info().unit, OutputUnit::margin);
  EXPECT_THAT(margins->info().note, HasSubstr("the value before Softmax"));
  EXPECT_THAT(margins->info().class_names, ElementsAre("0", "1", "2"));
  const Matrix z = outputs_of(*margins, x);
  const Matrix p = outputs_of(*softmax_model(OutputUnit::probability), x);
  const Matrix odds = outputs_of(*softmax_model(OutputUnit::log_odds), x);
  for (size_t r = 0; r < x.rows(); r++) {
    double total = 0;
    for (size_t c = 0; c < 3; c++) total += std::exp(static_cast<double>(z(r, c)));
    for (size_t c = 0; c < 3; c++) {
      const double share = std::exp(static_cast<double>(z(r, c))) / total;
      EXPECT_NEAR(p(r, c), share, 1e-6);
      EXPECT_NEAR(odds(r, c), std::log(share / (1 - share)), 1e-4);
    }
  }
}

TEST(EngineModel, BareLogitsAreMarginsOfClasses) {
  EngineModelOptions options;
  options.unit = OutputUnit::probability;
  const auto bare = EngineModel::from_onnx("m.onnx", classifier({}, {value("z", {-1, 3})}), options);
  const Matrix x = some_rows(5, 4);
  const Matrix p = outputs_of(*bare, x);
  const Matrix expected = outputs_of(*softmax_model(OutputUnit::probability), x);
  EXPECT_EQ(std::memcmp(p.data(), expected.data(), 15 * sizeof(float)), 0);
  EXPECT_THAT(EngineModel::from_onnx("m.onnx", classifier({}, {value("z", {-1, 3})}))->info().note,
              HasSubstr("taken for the classes' logits"));
}

// What a linear regression of two targets becomes in ONNX.
TEST(EngineModel, SeveralNumbersOfARegressorAreNoLogits) {
  const std::vector<OnnxAttribute> attributes = {floats_attribute("coefficients", {1, -2, 0.5F, 3}),
                                                 int_attribute("targets", 2)};
  const auto made =
      EngineModel::from_onnx("m.onnx", model({node("LinearRegressor", {"x"}, {"y"}, attributes, "ai.onnx.ml")},
                                             {value("x", {-1, 2})}, {value("y", {-1, 2})}));
  EXPECT_EQ(made->info().unit, OutputUnit::value);
  EXPECT_TRUE(made->info().class_names.empty());
  EXPECT_EQ(made->info().outputs(), 2U);
}

TEST(EngineModel, ASigmoidIsOneOutputOfTwoClasses) {
  const OnnxModel sigmoid = model({node("MatMul", {"x", "w"}, {"z"}), node("Sigmoid", {"z"}, {"p"})},
                                  {value("x", {-1, 2})}, {value("p", {-1, 1})}, {floats("w", {2, 1}, {1, -1})});
  const auto margin = EngineModel::from_onnx("m.onnx", sigmoid);
  EXPECT_THAT(margin->info().class_names, ElementsAre("0", "1"));
  EXPECT_THAT(margin->info().output_names, ElementsAre("1"));
  Matrix x(1, 2);
  x(0, 0) = 3;
  x(0, 1) = 1;
  EXPECT_EQ(outputs_of(*margin, x)(0, 0), 2);
  EngineModelOptions options;
  options.unit = OutputUnit::log_odds;
  EXPECT_EQ(outputs_of(*EngineModel::from_onnx("m.onnx", sigmoid, options), x)(0, 0), 2);
}

TEST(EngineModel, ARegressionHasOneUnit) {
  const OnnxModel linear = model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 2})}, {value("y", {-1, 1})},
                                 {floats("w", {2, 1}, {1, -1})});
  const auto made = EngineModel::from_onnx("m.onnx", linear);
  EXPECT_EQ(made->info().unit, OutputUnit::value);
  EXPECT_THAT(made->info().output_names, ElementsAre("y"));
  EngineModelOptions options;
  options.unit = OutputUnit::probability;
  EXPECT_THAT(sentence([&] { EngineModel::from_onnx("m.onnx", linear, options); }),
              HasSubstr("m.onnx: output probability is not available"));
}

TEST(EngineModel, BitsDoNotDependOnThreadsOrTheBatch) {
  const auto made = softmax_model(OutputUnit::log_odds);
  const Matrix x = some_rows(3001, 4);
  const Matrix y = outputs_of(*made, x, 1);
  for (const unsigned threads : {2U, 7U}) {
    const Matrix other = outputs_of(*made, x, threads);
    EXPECT_EQ(std::memcmp(y.data(), other.data(), y.values().size() * sizeof(float)), 0);
  }
  Matrix part(1, 3);
  for (const size_t r : {size_t{0}, size_t{17}, size_t{3000}}) {
    made->predict(x.view().rows_between(r, r + 1), part.view(), {});
    EXPECT_EQ(std::memcmp(part.data(), y.row(r).data(), 3 * sizeof(float)), 0);
  }
}

TEST(EngineModel, GradientsAreSlopes) {
  const auto made = softmax_model(OutputUnit::log_odds);
  ASSERT_NE(made->differentiable(), nullptr);
  const Matrix x = some_rows(40, 4);
  const Matrix weights = some_rows(40, 3, 6);
  Matrix gradients(40, 4);
  Matrix outputs(40, 3);
  made->differentiable()->gradient(x.view(), weights.view(), gradients.view(), outputs.view(), {});
  const Matrix expected = outputs_of(*made, x);
  EXPECT_EQ(std::memcmp(outputs.data(), expected.data(), 120 * sizeof(float)), 0);
  const float step = 1e-3F;
  size_t near = 0;
  for (size_t j = 0; j < 4; j++) {
    Matrix up = x;
    Matrix down = x;
    for (size_t r = 0; r < 40; r++) {
      up(r, j) += step;
      down(r, j) -= step;
    }
    const Matrix high = outputs_of(*made, up);
    const Matrix low = outputs_of(*made, down);
    for (size_t r = 0; r < 40; r++) {
      double slope = 0;
      for (size_t c = 0; c < 3; c++) {
        slope += static_cast<double>(weights(r, c)) * (high(r, c) - low(r, c)) /
                 (up(r, j) - static_cast<double>(down(r, j)));
      }
      near += std::abs(slope - gradients(r, j)) < 5e-3 * (1 + std::abs(slope)) ? 1 : 0;
    }
  }
  // A step may cross the kink of a ReLU.
  EXPECT_GE(near, 155U);
}

TEST(EngineModel, MultipliersAreComplete) {
  const auto made = softmax_model(OutputUnit::log_odds);
  const Matrix x = some_rows(30, 4);
  const Matrix weights = some_rows(30, 3, 6);
  for (const size_t references : {size_t{1}, size_t{30}}) {
    const Matrix reference = some_rows(references, 4, 8);
    Matrix multipliers(30, 4);
    made->rescalable()->multipliers(x.view(), reference.view(), weights.view(), DeepLiftRule::rescale,
                                    multipliers.view(), {});
    const Matrix high = outputs_of(*made, x);
    const Matrix low = outputs_of(*made, reference);
    for (size_t r = 0; r < 30; r++) {
      const size_t base = references == 1 ? 0 : r;
      double found = 0;
      double expected = 0;
      for (size_t j = 0; j < 4; j++) found += static_cast<double>(multipliers(r, j)) * (x(r, j) - reference(base, j));
      for (size_t c = 0; c < 3; c++) expected += static_cast<double>(weights(r, c)) * (high(r, c) - low(base, c));
      EXPECT_NEAR(found, expected, 1e-4 * (1 + std::abs(expected)));
    }
  }
}

TEST(EngineModel, TheRestBehindTheFirstLayerIsTheModel) {
  const auto made = softmax_model(OutputUnit::probability);
  const AffineEntry* entry = made->affine_entry();
  ASSERT_NE(entry, nullptr);
  ASSERT_EQ(entry->weights().rows(), 4U);
  ASSERT_EQ(entry->weights().cols(), 6U);
  const Matrix x = some_rows(20, 4);
  Matrix entries(20, 6);
  for (size_t r = 0; r < 20; r++) {
    for (size_t h = 0; h < 6; h++) {
      double sum = entry->bias()[h];
      for (size_t j = 0; j < 4; j++) sum += static_cast<double>(x(r, j)) * entry->weights()(j, h);
      entries(r, h) = static_cast<float>(sum);
    }
  }
  Matrix found(20, 3);
  entry->predict_from(entries.view(), found.view(), {});
  const Matrix expected = outputs_of(*made, x);
  for (size_t i = 0; i < 60; i++) EXPECT_NEAR(found.values()[i], expected.values()[i], 1e-6);
}

TEST(EngineModel, AFixedBatchIsOpened) {
  // As CNTK writes it: both the input and a Reshape fix one row.
  const auto made = EngineModel::from_onnx(
      "m.onnx", model({node("Reshape", {"x", "shape"}, {"r"}), node("Relu", {"r"}, {"y"})}, {value("x", {1, 2, 2})},
                      {value("y", {1, 4})}, {integers("shape", {2}, {1, 4})}));
  EXPECT_GT(made->block_rows(), 1U);
  const Matrix x = some_rows(9, 4);
  const Matrix y = outputs_of(*made, x);
  for (size_t i = 0; i < 36; i++) EXPECT_EQ(y.values()[i], std::max(0.0F, x.values()[i]));
}

TEST(EngineModel, ABatchThatCannotBeOpenedStaysFixed) {
  // Six elements are two rows of three and nothing else.
  const auto made = EngineModel::from_onnx(
      "m.onnx",
      model({node("Reshape", {"x", "flat"}, {"r"}), node("Relu", {"r"}, {"t"}), node("Reshape", {"t", "back"}, {"y"})},
            {value("x", {2, 3})}, {value("y", {2, 3})}, {integers("flat", {1}, {6}), integers("back", {2}, {2, 3})}));
  EXPECT_EQ(made->block_rows(), 2U);
  const Matrix x = some_rows(5, 3);
  const Matrix y = outputs_of(*made, x);
  for (size_t i = 0; i < 15; i++) EXPECT_EQ(y.values()[i], std::max(0.0F, x.values()[i]));
}

TEST(EngineModel, AModelThatMixesRowsIsRefused) {
  EXPECT_THAT(sentence([] {
                EngineModel::from_onnx("m.onnx", model({node("Softmax", {"x"}, {"p"}, {int_attribute("axis", 0)}),
                                                        node("Mul", {"x", "p"}, {"y"})},
                                                       {value("x", {-1, 2})}, {value("y", {-1, 2})}));
              }),
              HasSubstr("depends on the other rows of the batch"));
}

TEST(EngineModel, MixedRowsAreFoundAmongIntegersInFixedBatchesAndFarFromZero) {
  const auto refused = [](OnnxModel mixed) {
    return sentence([&] { EngineModel::from_onnx("m.onnx", std::move(mixed)); });
  };
  const auto less_mean = [](std::vector<OnnxNode> first, OnnxValue input) {
    first.push_back(node("ReduceMean", {"f"}, {"m"}, {ints_attribute("axes", {0})}));
    first.push_back(node("Sub", {"f", "m"}, {"y"}));
    return model(std::move(first), {std::move(input)}, {value("y", {-1, 5})});
  };
  EXPECT_THAT(refused(less_mean({node("Cast", {"x"}, {"f"}, {int_attribute("to", 1)})},
                                value("x", {-1, 5}, OnnxElement::int64))),
              HasSubstr("depends on the other rows"));
  EXPECT_THAT(refused(less_mean({node("Identity", {"x"}, {"f"})}, value("x", {3, 5}))),
              HasSubstr("depends on the other rows"));
  // Dead below 20.
  EXPECT_THAT(
      refused(model({node("Sub", {"x", "c"}, {"d"}), node("Relu", {"d"}, {"f"}),
                     node("ReduceMax", {"f"}, {"m"}, {ints_attribute("axes", {0})}), node("Sub", {"f", "m"}, {"y"})},
                    {value("x", {-1, 5})}, {value("y", {-1, 5})}, {floats("c", {1}, {20})})),
      HasSubstr("depends on the other rows"));
}

TEST(EngineModel, AnOutputThatIsNotByRowIsRefusedWhateverItsSize) {
  for (const int64_t size : {1, 4, 16, 1024}) {
    const auto made = EngineModel::from_onnx(
        "m.onnx", model({node("Relu", {"x"}, {"y"}), node("Identity", {"c"}, {"k"})}, {value("x", {-1, 2})},
                        {value("y", {-1, 2}), value("k", {size, 2})},
                        {floats("c", {size, 2}, std::vector<float>(static_cast<size_t>(2 * size), 1))}));
    const Matrix x = some_rows(40, 2);
    EXPECT_THAT(sentence([&] { made->own_outputs(x.view(), {}); }), HasSubstr("the first must be the row")) << size;
  }
}

TEST(EngineModel, ScoresOutsideZeroToOneAreNotCalledProbabilities) {
  const OnnxModel scores =
      model({node("MatMul", {"x", "w"}, {"probabilities"}), node("ArgMax", {"probabilities"}, {"label"})},
            {value("x", {-1, 2})}, {value("label", {-1, 1}, OnnxElement::int64), value("probabilities", {-1, 2})},
            {floats("w", {2, 2}, {3, -3, 1, 2})});
  EXPECT_EQ(EngineModel::from_onnx("m.onnx", scores)->info().unit, OutputUnit::margin);
  EngineModelOptions options;
  options.unit = OutputUnit::probability;
  EXPECT_THAT(sentence([&] { EngineModel::from_onnx("m.onnx", scores, options); }), HasSubstr("not between 0 and 1"));
}

TEST(EngineModel, AnInputNobodyReadsHasDerivativeZero) {
  const auto made = EngineModel::from_onnx(
      "m.onnx", model({node("Relu", {"a"}, {"y"})}, {value("a", {-1, 1}), value("b", {-1, 1})}, {value("y", {-1, 1})}));
  ASSERT_NE(made->differentiable(), nullptr);
  Matrix x(1, 2);
  x(0, 0) = 2;
  Matrix one(1, 1);
  one(0, 0) = 1;
  Matrix gradient(1, 2);
  gradient(0, 1) = 9;
  made->differentiable()->gradient(x.view(), one.view(), gradient.view(), {}, {});
  EXPECT_EQ(gradient(0, 0), 1);
  EXPECT_EQ(gradient(0, 1), 0);
}

TEST(EngineModel, WholeNumbersAreKeptOrRefused) {
  // A label beyond 2^24 is text; a fraction is no index.
  const auto made = EngineModel::from_onnx(
      "m.onnx",
      model({node("Gather", {"labels", "x"}, {"label"}), node("Cast", {"x"}, {"y"}, {int_attribute("to", 1)})},
            {value("x", {-1, 1}, OnnxElement::int64)},
            {value("y", {-1, 1}), value("label", {-1, 1}, OnnxElement::int64)},
            {integers("labels", {2}, {123456789, 123456790})}));
  Matrix x(2, 1);
  x(1, 0) = 1;
  const Table own = made->own_outputs(x.view(), {});
  EXPECT_THAT(own.columns[1].levels, ElementsAre("123456789", "123456790"));
  x(0, 0) = 0.5;
  EXPECT_THAT(sentence([&] { made->own_outputs(x.view(), {}); }), HasSubstr("takes whole numbers (INT64), found 0.5"));
}

TEST(EngineModel, ShapesOfCallsAreChecked) {
  const auto made = softmax_model();
  const Matrix x = some_rows(3, 5);
  Matrix y(3, 3);
  EXPECT_THAT(sentence([&] { made->predict(x.view(), y.view(), {}); }), HasSubstr("expected rows of 4 columns"));
}

TEST(Model, ABlackBoxIsCalledInBatchesOnThisThread) {
  ModelInfo info;
  info.feature_names = {"a", "b"};
  info.output_names = {"sum"};
  size_t calls = 0;
  const auto made = model_from_function(
      info,
      [&](MatrixView<const float> rows, MatrixView<float> out) {
        calls++;
        for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = rows(r, 0) + rows(r, 1);
      },
      4);
  const Matrix x = some_rows(10, 2);
  const Matrix y = outputs_of(*made, x, 7);
  EXPECT_EQ(calls, 3U);
  for (size_t r = 0; r < 10; r++) EXPECT_EQ(y(r, 0), x(r, 0) + x(r, 1));
  EXPECT_EQ(made->differentiable(), nullptr);
  EXPECT_EQ(made->affine_entry(), nullptr);
}

}  // namespace
}  // namespace assay::testing

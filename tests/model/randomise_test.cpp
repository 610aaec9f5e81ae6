#include "assay/model/randomise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "assay/core/error.h"
#include "assay/data/table_io.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/networks.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

struct Fixture {
  std::unique_ptr<EngineModel> model;
  Matrix rows;
};

Fixture fixture(const std::string& name) {
  const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/models/" + name;
  Fixture made{EngineModel::load(folder + "/model.onnx"), {}};
  made.rows = made.model->features_of(read_table(folder + "/rows.csv")).x;
  return made;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.values().size() == b.values().size() && std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0;
}

Matrix matrix_of(const std::vector<std::vector<float>>& rows) {
  Matrix made(rows.size(), rows[0].size());
  for (size_t i = 0; i < rows.size(); i++) std::ranges::copy(rows[i], made.row(i).begin());
  return made;
}
using Start = LayerParameter::Start;

std::vector<std::string> names_of(const std::vector<GraphLayer>& layers) {
  std::vector<std::string> names;
  for (const GraphLayer& layer : layers) names.push_back(layer.name);
  return names;
}

std::vector<float> floats_of(const Graph& graph, const std::string& name) {
  const auto values = graph.constant(graph.find_value(name))->values<float>();
  return {values.begin(), values.end()};
}

// Names of constants whose elements differ between the graphs.
std::vector<std::string> changed(const Graph& a, const Graph& b) {
  std::vector<std::string> names;
  for (size_t value = 0; value < a.value_count(); value++) {
    const Tensor* one = a.constant(value).get();
    if (one == nullptr) continue;
    const Tensor* other = b.constant(b.find_value(a.value_name(value))).get();
    EXPECT_NE(other, nullptr);
    EXPECT_EQ(one->dims(), other->dims());
    EXPECT_EQ(one->type(), other->type());
    if (one->type() == OnnxElement::string) continue;
    if (std::memcmp(one->raw(), other->raw(), one->count() * element_size(one->type())) != 0) {
      names.push_back(a.value_name(value));
    }
  }
  std::ranges::sort(names);
  return names;
}

Graph mlp_graph() {
  MlpOptions options;
  options.hidden = {6, 4};
  return Graph("mlp", mlp_network(options, 3, 2, true, 11));
}

Matrix outputs_of(const Model& model, const Matrix& rows) {
  Matrix outputs(rows.rows(), model.info().outputs());
  model.predict(rows.view(), outputs.view(), {});
  return outputs;
}

TEST(Randomise, LayersGoFromTheOutputsDown) {
  const Graph graph = mlp_graph();
  const std::vector<GraphLayer> layers = find_layers(graph, "margin");
  EXPECT_THAT(names_of(layers), ElementsAre("output", "dense2", "dense1"));
  EXPECT_EQ(layers[0].parameters.size(), 2U);
  EXPECT_EQ(layers[0].parameters[0].fan_in, 4U);
  EXPECT_EQ(layers[1].parameters[1].fan_in, 6U);
  EXPECT_EQ(layers[2].parameters[0].fan_in, 3U);
}

TEST(Randomise, ChangesTheAskedLayersAlone) {
  const Graph graph = mlp_graph();
  const std::vector<GraphLayer> layers = find_layers(graph, "margin");
  EXPECT_THAT(changed(graph, randomised_graph(graph, layers, 0, false, 1)), ElementsAre());
  EXPECT_THAT(changed(graph, randomised_graph(graph, layers, 1, false, 1)),
              ElementsAre("output.bias", "output.weight"));
  EXPECT_THAT(changed(graph, randomised_graph(graph, layers, 2, false, 1)),
              ElementsAre("dense2.bias", "dense2.weight", "output.bias", "output.weight"));
  EXPECT_THAT(changed(graph, randomised_graph(graph, layers, 2, true, 1)), ElementsAre("dense2.bias", "dense2.weight"));
  EXPECT_EQ(changed(graph, randomised_graph(graph, layers, 3, false, 1)).size(), 6U);
}

TEST(Randomise, DrawsDependOnSeedAndLayerAlone) {
  const Graph graph = mlp_graph();
  const std::vector<GraphLayer> layers = find_layers(graph, "margin");
  const Graph alone = randomised_graph(graph, layers, 2, true, 9);
  const Graph cascade = randomised_graph(graph, layers, 3, false, 9);
  EXPECT_EQ(floats_of(alone, "dense2.weight"), floats_of(cascade, "dense2.weight"));
  EXPECT_EQ(floats_of(alone, "dense2.bias"), floats_of(cascade, "dense2.bias"));
  EXPECT_NE(floats_of(alone, "dense2.weight"),
            floats_of(randomised_graph(graph, layers, 2, true, 10), "dense2.weight"));
}

// Uniform in +-1 / sqrt(fan in): mean 0 and variance bound^2 / 3.
TEST(Randomise, WeightsStartAsBeforeTraining) {
  MlpOptions options;
  options.hidden = {400};
  const Graph graph("mlp", mlp_network(options, 25, 2, false, 3));
  const std::vector<GraphLayer> layers = find_layers(graph, "value");
  const Graph made = randomised_graph(graph, layers, 2, false, 4);
  double sum = 0;
  double squares = 0;
  double largest = 0;
  const std::vector<float> weights = floats_of(made, "dense1.weight");
  ASSERT_EQ(weights.size(), 10000U);
  for (const float w : weights) {
    sum += w;
    squares += static_cast<double>(w) * w;
    largest = std::max(largest, std::abs(static_cast<double>(w)));
  }
  EXPECT_LE(largest, 0.2);  // 1 / sqrt(25)
  EXPECT_GT(largest, 0.199);
  EXPECT_NEAR(sum / 1e4, 0, 0.004);  // 3.5 standard errors of 0.2 / sqrt(3) / 100
  EXPECT_NEAR(squares / 1e4, 0.04 / 3, 0.0005);
}

TEST(Randomise, NormsAndSlopesBecomeWhatTheyStartAs) {
  auto onnx = model(
      {node("Conv", {"x", "w"}, {"c"}), node("BatchNormalization", {"c", "s", "b", "m", "v"}, {"n"}),
       node("PRelu", {"n", "p"}, {"y"})},
      {value("x", {-1, 2, 3, 3})}, {value("y", {-1, 2, 2, 2})},
      {floats("w", {2, 2, 2, 2}, std::vector<float>(16, 0.5F)), floats("s", {2}, {3, 4}), floats("b", {2}, {5, 6}),
       floats("m", {2}, {7, 8}), floats("v", {2}, {9, 10}), floats("p", {2, 1, 1}, {0.5F, 0.6F})});
  const Graph graph("norms", std::move(onnx));
  const std::vector<GraphLayer> layers = find_layers(graph, "y");
  EXPECT_THAT(names_of(layers), ElementsAre("y", "n", "c"));  // nodes without a name: by what they make
  EXPECT_EQ(layers[2].parameters[0].fan_in, 8U);              // 2 channels of 2 x 2
  const Graph made = randomised_graph(graph, layers, 2, false, 1);
  EXPECT_THAT(floats_of(made, "p"), ElementsAre(0.25F, 0.25F));
  EXPECT_THAT(floats_of(made, "s"), ElementsAre(1, 1));
  EXPECT_THAT(floats_of(made, "b"), ElementsAre(0, 0));
  EXPECT_THAT(floats_of(made, "m"), ElementsAre(0, 0));
  EXPECT_THAT(floats_of(made, "v"), ElementsAre(1, 1));
  EXPECT_EQ(floats_of(made, "w"), std::vector<float>(16, 0.5F));
}

// The same weights twice: one layer, named by the use nearest to the output; both uses change. A bias of its own makes
// the second use a layer of that bias alone.
TEST(Randomise, ASharedWeightBelongsToTheLayerNearestToTheOutput) {
  auto onnx = model({node("MatMul", {"x", "w"}, {"a"}), node("Tanh", {"a"}, {"h"}), node("MatMul", {"h", "w"}, {"y"})},
                    {value("x", {-1, 2})}, {value("y", {-1, 2})}, {floats("w", {2, 2}, {1, 2, 3, 4})});
  EXPECT_THAT(names_of(find_layers(Graph("tied", onnx), "y")), ElementsAre("y"));
  auto biased = model(
      {node("Gemm", {"x", "w", "b"}, {"a"}), node("Tanh", {"a"}, {"h"}), node("Gemm", {"h", "w"}, {"y"})},
      {value("x", {-1, 2})}, {value("y", {-1, 2})}, {floats("w", {2, 2}, {1, 2, 3, 4}), floats("b", {2}, {1, 1})});
  const Graph graph("tied", std::move(biased));
  const std::vector<GraphLayer> layers = find_layers(graph, "y");
  EXPECT_THAT(names_of(layers), ElementsAre("y", "a"));
  EXPECT_THAT(changed(graph, randomised_graph(graph, layers, 2, true, 1)), ElementsAre("b"));
}

// W x with the weights on the left, turned or not; a bias in an Add; constants that are no parameters.
TEST(Randomise, FindsTheDimensionThatIsSummedOver) {
  const auto fan_in = [](const OnnxModel& onnx, const std::string& fetch) {
    return find_layers(Graph("m", onnx), fetch).at(0).parameters.at(0).fan_in;
  };
  OnnxAttribute turned;
  turned.name = "transB";
  turned.kind = OnnxAttributeKind::one_int;
  turned.ints = {1};
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(fan_in(model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 2})}, {value("y", {-1, 3})},
                         {floats("w", {2, 3}, six)}),
                   "y"),
            2U);
  EXPECT_EQ(fan_in(model({node("Gemm", {"x", "w"}, {"y"}, {turned})}, {value("x", {-1, 3})}, {value("y", {-1, 2})},
                         {floats("w", {2, 3}, six)}),
                   "y"),
            3U);
  EXPECT_EQ(fan_in(model({node("MatMul", {"w", "x"}, {"y"})}, {value("x", {-1, 3, 1})}, {value("y", {-1, 2, 1})},
                         {floats("w", {2, 3}, six)}),
                   "y"),
            3U);
  const Graph graph(
      "bias",
      model({node("Mul", {"x", "scale"}, {"s"}), node("MatMul", {"s", "w"}, {"m"}), node("Add", {"b", "m"}, {"y"})},
            {value("x", {-1, 2})}, {value("y", {-1, 3})},
            {floats("scale", {2}, {10, 20}), floats("w", {2, 3}, six), floats("b", {3}, {7, 8, 9})}));
  const std::vector<GraphLayer> layers = find_layers(graph, "y");
  EXPECT_THAT(names_of(layers), ElementsAre("m"));
  EXPECT_THAT(changed(graph, randomised_graph(graph, layers, 1, false, 1)), ElementsAre("b", "w"));
}

TEST(Randomise, WhatTheExplainedValueDoesNotDependOnIsNoLayer) {
  const Graph graph("two",
                    model({node("MatMul", {"x", "w"}, {"a"}), node("MatMul", {"a", "v"}, {"y"})}, {value("x", {-1, 1})},
                          {value("y", {-1, 1})}, {floats("w", {1, 1}, {2}), floats("v", {1, 1}, {3})}));
  EXPECT_THAT(names_of(find_layers(graph, "a")), ElementsAre("a"));
  EXPECT_TRUE(find_layers(graph, "x").empty());
}

// Everything that users see of the model stays; its numbers do not.
TEST(Randomise, ModelsOfTheFixturesKeepAllButTheirNumbers) {
  const std::vector<std::pair<std::string, size_t>> fixtures = {
      {"torch_mlp_script", 3},      {"torch_mlp_dynamo", 4},         {"torch_cnn_script", 4},
      {"sklearn_mlp", 3},           {"sklearn_mlp_binary", 2},       {"sklearn_logistic_binary", 1},
      {"sklearn_scaled_linear", 1}, {"torch_grouped_cnn_script", 3}, {"sklearn_logistic_iris", 1}};
  for (const auto& [name, count] : fixtures) {
    const Fixture setting = fixture(name);
    const Randomisable* randomisable = setting.model->randomisable();
    ASSERT_NE(randomisable, nullptr) << name;
    EXPECT_EQ(randomisable->layers().size(), count) << name << ": " << ::testing::PrintToString(randomisable->layers());
    const Matrix before = outputs_of(*setting.model, setting.rows);
    EXPECT_TRUE(same_bits(before, outputs_of(*randomisable->randomised(0, false, 1, {}), setting.rows))) << name;
    for (size_t l = 1; l <= count; l++) {
      const std::unique_ptr<Model> made = randomisable->randomised(l, false, 1, {});
      EXPECT_EQ(made->info().output_names, setting.model->info().output_names);
      EXPECT_EQ(made->info().class_names, setting.model->info().class_names);
      EXPECT_EQ(made->info().feature_names, setting.model->info().feature_names);
      EXPECT_EQ(made->info().unit, setting.model->info().unit);
      EXPECT_EQ(made->differentiable() == nullptr, setting.model->differentiable() == nullptr);
      EXPECT_EQ(made->affine_entry() == nullptr, setting.model->affine_entry() == nullptr);
      const Matrix after = outputs_of(*made, setting.rows);
      EXPECT_FALSE(same_bits(before, after)) << name << ", " << l;
      EXPECT_TRUE(same_bits(after, outputs_of(*randomisable->randomised(l, false, 1, {}), setting.rows)));
      EXPECT_TRUE(std::ranges::all_of(after.values(), [](float v) { return std::isfinite(v); }));
    }
  }
}

TEST(Randomise, LayersAreNamedByTheFilesOwnNodes) {
  EXPECT_THAT(fixture("torch_mlp_script").model->randomisable()->layers(),
              ElementsAre("/last/Gemm", "/second/Gemm", "/first/Gemm"));
  EXPECT_THAT(fixture("sklearn_logistic_binary").model->randomisable()->layers(), ElementsAre("LinearClassifier"));
}

// Units that are made by nodes which the engine adds.
TEST(Randomise, KeepsTheUnitThatWasAskedFor) {
  const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/models/";
  for (const OutputUnit unit : {OutputUnit::log_odds, OutputUnit::probability, OutputUnit::margin}) {
    for (const std::string name : {"sklearn_mlp", "sklearn_logistic_iris"}) {
      const auto model = EngineModel::load(folder + name + "/model.onnx", {.unit = unit});
      const auto made = model->randomisable()->randomised(1, false, 2, {});
      EXPECT_EQ(made->info().unit, unit);
      Matrix rows(3, model->info().features());
      for (size_t i = 0; i < rows.values().size(); i++) rows.values()[i] = static_cast<float>(i % 7) - 3;
      const Matrix outputs = outputs_of(*made, rows);
      EXPECT_FALSE(same_bits(outputs, outputs_of(*model, rows)));
      if (unit != OutputUnit::probability) continue;
      for (size_t r = 0; r < 3; r++) {
        double sum = 0;
        for (const float p : outputs.row(r)) sum += p;
        EXPECT_NEAR(sum, 1, 1e-5) << name;
      }
    }
  }
}

TEST(Randomise, TreesAndFunctionsHaveNoLayers) {
  EXPECT_EQ(fixture("sklearn_forest").model->randomisable(), nullptr);
  EXPECT_EQ(fixture("xgboost_binary").model->randomisable(), nullptr);
}

TEST(Randomise, RefusesLayersThatAreNotThere) {
  const Fixture setting = fixture("sklearn_mlp");
  EXPECT_THROW(setting.model->randomisable()->randomised(4, false, 1, {}), Error);
  EXPECT_THROW(setting.model->randomisable()->randomised(0, true, 1, {}), Error);
}

// The first layer alone, with and without the scale (mean 10 and -4, deviation 2 and 0.5; the third is not scaled).
const FeatureScale kThree = {{10, -4, 7}, {2, 0.5F, 0}};

std::pair<Graph, Graph> without_and_with_scale(OnnxModel onnx, const FeatureScale& scale = kThree) {
  const Graph graph("first", std::move(onnx));
  const std::vector<GraphLayer> layers = find_layers(graph, "y");
  const std::vector<InputScale> scales = {{"x", scale}};
  return {randomised_graph(graph, layers, layers.size(), false, 5),
          randomised_graph(graph, layers, layers.size(), false, 5, scales)};
}

OnnxAttribute real(const std::string& name, float number) {
  OnnxAttribute made;
  made.name = name;
  made.kind = OnnxAttributeKind::one_float;
  made.floats = {number};
  return made;
}

OnnxAttribute turned_right() {
  OnnxAttribute made;
  made.name = "transB";
  made.kind = OnnxAttributeKind::one_int;
  made.ints = {1};
  return made;
}

// w_j / deviation_j and b - sum of w_j mean_j / deviation_j, for features x outputs and for outputs x features.
TEST(Randomise, TheFirstLayerTakesTheScaleOfTheFeatures) {
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  for (const bool turned : {false, true}) {
    const auto node_of =
        turned ? node("Gemm", {"x", "w", "b"}, {"y"}, {turned_right()}) : node("Gemm", {"x", "w", "b"}, {"y"});
    const auto dims = turned ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{3, 2};
    const auto [plain, scaled] = without_and_with_scale(model({node_of}, {value("x", {-1, 3})}, {value("y", {-1, 2})},
                                                              {floats("w", dims, six), floats("b", {2}, {7, 8})}));
    const std::vector<float> w = floats_of(plain, "w");
    const std::vector<float> found = floats_of(scaled, "w");
    for (size_t o = 0; o < 2; o++) {
      const auto at = [&](size_t f) { return turned ? o * 3 + f : f * 2 + o; };
      EXPECT_FLOAT_EQ(found[at(0)], w[at(0)] / 2);
      EXPECT_FLOAT_EQ(found[at(1)], w[at(1)] * 2);
      EXPECT_EQ(found[at(2)], w[at(2)]);
      EXPECT_NEAR(floats_of(scaled, "b")[o], floats_of(plain, "b")[o] - w[at(0)] * 5 + w[at(1)] * 8, 1e-5);
    }
  }
}

TEST(Randomise, TheScaleOfProductsWithAndWithoutABias) {
  const std::vector<float> three = {1, 2, 3};
  const auto [plain, scaled] = without_and_with_scale(model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 3})},
                                                            {value("y", {-1, 1})}, {floats("w", {3, 1}, three)}));
  EXPECT_FLOAT_EQ(floats_of(scaled, "w")[0], floats_of(plain, "w")[0] / 2);
  // The bias may stand behind, and copies before; a Gemm's factors count: 2 x W + 4 b takes 2 / 4 of the shift.
  const auto [apart, apart_scaled] = without_and_with_scale(
      model({node("Identity", {"x"}, {"i"}), node("MatMul", {"i", "w"}, {"m"}), node("Add", {"m", "b"}, {"y"})},
            {value("x", {-1, 3})}, {value("y", {-1, 1})}, {floats("w", {3, 1}, three), floats("b", {1}, {7})}));
  const std::vector<float> w = floats_of(apart, "w");
  EXPECT_NEAR(floats_of(apart_scaled, "b")[0], floats_of(apart, "b")[0] - w[0] * 5 + w[1] * 8, 1e-5);
  const auto [gemm, gemm_scaled] = without_and_with_scale(
      model({node("Gemm", {"x", "w", "b"}, {"y"}, {real("alpha", 2), real("beta", 4)})}, {value("x", {-1, 3})},
            {value("y", {-1, 1})}, {floats("w", {3, 1}, three), floats("b", {1}, {7})}));
  EXPECT_NEAR(floats_of(gemm_scaled, "b")[0], floats_of(gemm, "b")[0] - (w[0] * 5 - w[1] * 8) / 2, 1e-5);
}

TEST(Randomise, LayersBehindAnythingElseKnowNoScale) {
  const auto [plain, scaled] = without_and_with_scale(
      model({node("Mul", {"x", "scale"}, {"s"}), node("MatMul", {"s", "w"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
            {value("x", {-1, 3})}, {value("y", {-1, 1})},
            {floats("scale", {3}, {1, 2, 3}), floats("w", {3, 3}, std::vector<float>(9, 1)),
             floats("v", {3, 1}, {1, 2, 3})}));
  EXPECT_THAT(changed(plain, scaled), ElementsAre());
  // A norm that reads the features gets their moments; what follows is drawn as ever.
  const auto [norm, norm_scaled] = without_and_with_scale(
      model({node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"n"}), node("MatMul", {"n", "w"}, {"y"})},
            {value("x", {-1, 3})}, {value("y", {-1, 1})},
            {floats("s", {3}, {1, 2, 3}), floats("b", {3}, {1, 2, 3}), floats("m", {3}, {1, 2, 3}),
             floats("v", {3}, {1, 2, 3}), floats("w", {3, 1}, {1, 2, 3})}));
  EXPECT_THAT(changed(norm, norm_scaled), ElementsAre("m", "v"));
  EXPECT_THAT(floats_of(norm_scaled, "m"), ElementsAre(10, -4, 0));
  EXPECT_THAT(floats_of(norm_scaled, "v"), ElementsAre(4, 0.25F, 1));
}

// With the scale on raw rows it is what it is without on standardised rows; all kinds of first layers.
TEST(Randomise, ScaledOnRawRowsIsPlainOnStandardisedRows) {
  MlpOptions options;
  options.hidden = {6};
  std::vector<std::pair<std::string, std::shared_ptr<const Model>>> models = {
      {"mlp", EngineModel::from_onnx("mlp", mlp_network(options, 4, 2, true, 11))}};
  for (const std::string name : {"torch_mlp_script", "torch_mlp_dynamo", "sklearn_mlp", "sklearn_mlp_binary",
                                 "sklearn_logistic_binary", "sklearn_logistic_iris"}) {
    models.emplace_back(name, fixture(name).model);
  }
  for (const auto& [name, subject] : models) {
    const size_t features = subject->info().features();
    FeatureScale scale;
    Matrix raw(5, features);
    Matrix standardised(5, features);
    for (size_t f = 0; f < features; f++) {
      scale.mean.push_back(3.0F * static_cast<float>(f) - 2);
      scale.deviation.push_back(f == 1 ? 0.0F : 0.5F + static_cast<float>(f));
      for (size_t r = 0; r < 5; r++) {
        standardised(r, f) = static_cast<float>((r * 7 + f * 3) % 11) / 5 - 1;
        raw(r, f) = f == 1 ? standardised(r, f) : standardised(r, f) * scale.deviation[f] + scale.mean[f];
      }
    }
    const size_t count = subject->randomisable()->layers().size();
    const Matrix found = outputs_of(*subject->randomisable()->randomised(count, false, 3, scale), raw);
    const Matrix expected = outputs_of(*subject->randomisable()->randomised(count, false, 3, {}), standardised);
    for (size_t i = 0; i < found.values().size(); i++) {
      EXPECT_NEAR(found.values()[i], expected.values()[i], 2e-5) << name << ", " << i;
    }
    EXPECT_THROW(subject->randomisable()->randomised(1, false, 3, {{1}, {1}}), Error) << name;
  }
}

// Two inputs of one and two columns: each layer has the part of its own input.
TEST(Randomise, InputsHaveTheirPartsOfTheScale) {
  const auto subject = EngineModel::from_onnx(
      "two",
      model({node("MatMul", {"a", "v"}, {"p"}), node("MatMul", {"b", "w"}, {"q"}), node("Add", {"p", "q"}, {"y"})},
            {value("a", {-1, 1}), value("b", {-1, 2})}, {value("y", {-1, 1})},
            {floats("v", {1, 1}, {1}), floats("w", {2, 1}, {1, 1})}));
  const Randomisable& randomisable = *subject->randomisable();
  ASSERT_EQ(randomisable.layers().size(), 2U);
  const Matrix plain =
      outputs_of(*randomisable.randomised(2, false, 3, {}), matrix_of({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  const Matrix scaled = outputs_of(*randomisable.randomised(2, false, 3, {{0, 0, 0}, {2, 4, 8}}),
                                   matrix_of({{2, 0, 0}, {0, 4, 0}, {0, 0, 8}}));
  for (size_t r = 0; r < 3; r++) EXPECT_FLOAT_EQ(scaled(r, 0), plain(r, 0));
}

}  // namespace
}  // namespace assay::testing

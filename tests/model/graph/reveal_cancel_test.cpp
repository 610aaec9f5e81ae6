// The RevealCancel rule on graphs against the paper's formulas, written out for a dense network.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "assay/model/engine_model.h"
#include "tests/model/graph/multipliers.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

// Positive and negative parts as the paper has them, in float64: layers z = W x + b, batch normalisation, an
// activation.
struct Layer {
  size_t inputs, outputs;
  std::vector<float> weights, bias, factor;  // weights: inputs x outputs; factor: that of a normalisation, per output
};
// The multipliers of one row.
std::vector<double> reveal_cancel_by_hand(const std::vector<Layer>& layers, const float* x, const float* reference,
                                          const std::function<double(double)>& f,
                                          const std::function<double(double)>& slope) {
  struct Trace {
    std::vector<double> total;        // of the layer's inputs
    std::vector<double> plus, minus;  // factors of the activation's parts
  };
  std::vector<Trace> traces;
  std::vector<double> value(x, x + layers[0].inputs), base(reference, reference + layers[0].inputs);
  for (size_t l = 0; l < layers.size(); l++) {
    const Layer& layer = layers[l];
    Trace trace;
    for (size_t i = 0; i < layer.inputs; i++) trace.total.push_back(value[i] - base[i]);
    std::vector<double> next_value, next_base;
    for (size_t o = 0; o < layer.outputs; o++) {
      double z0 = layer.bias[o], z = layer.bias[o], plus = 0, minus = 0;
      for (size_t i = 0; i < layer.inputs; i++) {
        const double w = layer.weights[i * layer.outputs + o];
        z += w * value[i];
        z0 += w * base[i];
        (w * trace.total[i] > 0 ? plus : minus) += w * trace.total[i];
      }
      const double factor = layer.factor[o];
      z *= factor;
      z0 *= factor;
      plus *= factor;
      minus *= factor;
      if (factor < 0) std::swap(plus, minus);
      if (l + 1 == layers.size()) {
        trace.plus.push_back(1);
        trace.minus.push_back(1);
        continue;
      }
      const double y_plus = 0.5 * (f(z0 + plus) - f(z0)) + 0.5 * (f(z0 + plus + minus) - f(z0 + minus));
      const double y_minus = 0.5 * (f(z0 + minus) - f(z0)) + 0.5 * (f(z0 + plus + minus) - f(z0 + plus));
      // The limit for small parts where there is none.
      trace.plus.push_back(plus == 0 ? (slope(z0) + slope(z0 + minus)) / 2 : y_plus / plus);
      trace.minus.push_back(minus == 0 ? (slope(z0) + slope(z0 + plus)) / 2 : y_minus / minus);
      next_value.push_back(f(z));
      next_base.push_back(f(z0));
    }
    traces.push_back(trace);
    value = next_value;
    base = next_base;
  }
  // From the one output back; an activation's output is the input of a layer, so both of its parts have one multiplier.
  std::vector<double> multipliers = {1};
  for (size_t l = layers.size(); l-- > 0;) {
    const Layer& layer = layers[l];
    std::vector<double> inputs(layer.inputs, 0.0);
    for (size_t i = 0; i < layer.inputs; i++) {
      for (size_t o = 0; o < layer.outputs; o++) {
        const double w = layer.weights[i * layer.outputs + o] * layer.factor[o];
        const double contribution = w * traces[l].total[i];
        const double plus = traces[l].plus[o];
        const double minus = traces[l].minus[o];
        // Parts that cancel leave no difference, and still matter: they take the mean.
        inputs[i] += w * multipliers[o] * (contribution > 0 ? plus : contribution < 0 ? minus : (plus + minus) / 2);
      }
    }
    multipliers = inputs;
  }
  return multipliers;
}

TEST(RevealCancel, IsThePapersRule) {
  const size_t widths[] = {5, 7, 6, 1};
  std::vector<Layer> layers;
  std::vector<OnnxTensor> weights = {floats("zero", {7}, std::vector<float>(7)),
                                     floats("unit", {7}, std::vector<float>(7, 1 - 1e-5F)),
                                     integers("images", {3}, {-1, 2, 3})};
  for (size_t l = 0; l < 3; l++) {
    Layer layer{widths[l], widths[l + 1], random_floats(widths[l] * widths[l + 1], 10 + l),
                random_floats(widths[l + 1], 20 + l), random_floats(widths[l + 1], 30 + l, 2)};
    if (l == 2) layer.factor = {1};
    const auto in = static_cast<int64_t>(layer.inputs), out = static_cast<int64_t>(layer.outputs);
    const std::string name = std::to_string(l);
    weights.push_back(floats("w" + name, {in, out}, layer.weights));
    weights.push_back(floats("b" + name, {out}, layer.bias));
    weights.push_back(floats("s" + name, {out}, layer.factor));
    layers.push_back(std::move(layer));
  }
  for (const bool relu : {true, false}) {
    const std::string op = relu ? "Relu" : "Tanh";
    const std::vector<OnnxNode> nodes = {
        node("MatMul", {"x", "w0"}, {"a0"}),
        node("Add", {"b0", "a0"}, {"c0"}),
        node("BatchNormalization", {"c0", "s0", "zero", "zero", "unit"}, {"z0"}),
        node(op, {"z0"}, {"h0"}),
        node("Gemm", {"h0", "w1", "b1"}, {"g1"}, {float_attribute("alpha", -0.5F), float_attribute("beta", -0.5F)}),
        node("Gemm", {"h0", "w1", "b1"}, {"k1"}, {float_attribute("alpha", 0.5F), float_attribute("beta", 0.5F)}),
        node("Neg", {"g1"}, {"n1"}),
        node("Add", {"n1", "k1"}, {"c1"}),
        node("Mul", {"c1", "s1"}, {"m1"}),
        node("Reshape", {"m1", "images"}, {"r1"}),
        node("Transpose", {"r1"}, {"t1"}, {ints_attribute("perm", {0, 2, 1})}),
        node("Transpose", {"t1"}, {"u1"}, {ints_attribute("perm", {0, 2, 1})}),
        node("Flatten", {"u1"}, {"z1"}),
        node(op, {"z1"}, {"h1"}),
        node("MatMul", {"h1", "w2"}, {"a2"}),
        node("Add", {"a2", "b2"}, {"y"})};
    const auto made =
        EngineModel::from_onnx("dense", model(nodes, {value("x", {-1, 5})}, {value("y", {-1, 1})}, weights));
    const Matrix x = random_matrix(20, 5, 40, 2);
    const Matrix reference = random_matrix(20, 5, 41, 2);
    const Matrix ones = ones_for(20);
    const Matrix found = multipliers_of(*made, x, reference, ones, DeepLiftRule::reveal_cancel);
    const auto f = [&](double z) { return relu ? std::max(z, 0.0) : std::tanh(z); };
    const auto slope = [&](double z) { return relu ? (z > 0 ? 1.0 : 0.0) : 1 - std::tanh(z) * std::tanh(z); };
    double away = 0;
    const Matrix rescaled = multipliers_of(*made, x, reference, ones, DeepLiftRule::rescale);
    for (size_t r = 0; r < 20; r++) {
      const auto expected = reveal_cancel_by_hand(layers, x.row(r).data(), reference.row(r).data(), f, slope);
      for (size_t j = 0; j < 5; j++) {
        EXPECT_NEAR(found(r, j), expected[j], 2e-5 * (1 + std::abs(expected[j]))) << "row " << r << " column " << j;
        away = std::max(away, std::abs(expected[j] - double{rescaled(r, j)}));
      }
    }
    EXPECT_GT(away, 0.1);  // the rules do differ here
  }
}

// A convolution and its normalisation are a matrix: what they do to unit vectors.
TEST(RevealCancel, OfAConvolutionIsThatOfItsMatrix) {
  constexpr size_t kInputs = 8, kOutputs = 12;  // 2 channels of 4 positions, 3 of 4
  const std::vector<OnnxTensor> kernels = {floats("w", {3, 2, 3}, random_floats(18, 60)),
                                           floats("b", {3}, random_floats(3, 61)),
                                           floats("scale", {3}, {0.8F, -1.3F, 0.5F}),
                                           floats("offset", {3}, random_floats(3, 63)),
                                           floats("variance", {3}, {0.5F, 2, 1}),
                                           floats("v", {12, 1}, random_floats(12, 64)),
                                           integers("flat", {2}, {-1, 12})};
  std::vector<OnnxNode> nodes = {
      node("Conv", {"x", "w", "b"}, {"c"}, {ints_attribute("pads", {1, 1}), ints_attribute("kernel_shape", {3})}),
      node("BatchNormalization", {"c", "scale", "offset", "b", "variance"}, {"n"}),
      node("Reshape", {"n", "flat"}, {"z"})};
  const auto first =
      EngineModel::from_onnx("first", model(nodes, {value("x", {-1, 2, 4})}, {value("z", {-1, 12})}, kernels));
  Matrix units(kInputs + 1, kInputs);
  for (size_t i = 0; i < kInputs; i++) units(i, i) = 1;
  Matrix images(kInputs + 1, kOutputs);
  first->predict(units.view(), images.view(), {});
  std::vector<float> matrix(kInputs * kOutputs);
  for (size_t i = 0; i < kInputs; i++) {
    for (size_t o = 0; o < kOutputs; o++) matrix[i * kOutputs + o] = images(i, o) - images(kInputs, o);
  }
  const auto bias = images.row(kInputs);
  nodes.push_back(node("Relu", {"z"}, {"h"}));
  nodes.push_back(node("MatMul", {"h", "v"}, {"y"}));
  const auto whole =
      EngineModel::from_onnx("whole", model(nodes, {value("x", {-1, 2, 4})}, {value("y", {-1, 1})}, kernels));
  const auto dense = EngineModel::from_onnx(
      "dense",
      model({node("Gemm", {"x", "m", "b"}, {"z"}), node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
            {value("x", {-1, 8})}, {value("y", {-1, 1})},
            {floats("m", {8, 12}, matrix), floats("b", {12}, {bias.begin(), bias.end()}), kernels[5]}));
  const Matrix x = random_matrix(15, kInputs, 65, 2);
  const Matrix reference = random_matrix(15, kInputs, 66, 2);
  for (const DeepLiftRule rule : kRules) {
    const Matrix found = multipliers_of(*whole, x, reference, ones_for(15), rule);
    const Matrix expected = multipliers_of(*dense, x, reference, ones_for(15), rule);
    for (size_t i = 0; i < found.values().size(); i++) EXPECT_NEAR(found.values()[i], expected.values()[i], 1e-5);
  }
}

// A feature that does not differ has the mean of what a rise and a fall would get: with y = relu(x1 - x2) and x1 from 0
// to 2, m+ = 1, and m- is the mean slope of relu at 0, which is 0, and at 2.
TEST(RevealCancel, NoDifferenceTakesTheMeanOfBothMultipliers) {
  const auto made = EngineModel::from_onnx(
      "one", model({node("MatMul", {"x", "w"}, {"z"}), node("Relu", {"z"}, {"y"})}, {value("x", {-1, 2})},
                   {value("y", {-1, 1})}, {floats("w", {2, 1}, {1, -1})}));
  Matrix x(1, 2);
  x(0, 0) = 2;
  const Matrix found = multipliers_of(*made, x, Matrix(1, 2), ones_for(1), DeepLiftRule::reveal_cancel);
  EXPECT_EQ(found(0, 0), 1);
  EXPECT_EQ(found(0, 1), -(1 + 0.5F) / 2);
}

// min(a, b) = a - relu(a - b) from (0, 0). At (10, 6) the parts of a - b are 10 and -6. Due to the first: (10 + 4 - 0)
// / 2 = 7, to the second: (0 + 4 - 10) / 2 = -3. So a has 10 - 7 and b 3; at (3, 8) they have (3 + 0 - 0) / 2 = 1.5
// each.
TEST(RevealCancel, AReLUIsOneHoweverItIsSpelled) {
  const std::vector<OnnxTensor> weights = {floats("zero", {}, {0}), floats("low", {1}, {-1}),
                                           floats("zeros", {1, 1}, {0})};
  const std::vector<std::vector<OnnxNode>> spellings = {
      {node("Relu", {"d"}, {"h"})},
      {node("LeakyRelu", {"d"}, {"h"}, {float_attribute("alpha", 0)})},
      {node("PRelu", {"d", "zero"}, {"h"})},
      {node("PRelu", {"d", "zeros"}, {"h"})},
      {node("Max", {"d", "zero"}, {"h"})},
      {node("Max", {"zeros", "d"}, {"h"})},
      {node("Max", {"low", "d", "zero"}, {"h"})},
      {node("Neg", {"d"}, {"n"}), node("Min", {"n", "zero"}, {"m"}), node("Neg", {"m"}, {"h"})},
      {node("Clip", {"d", "zero"}, {"h"})}};
  Matrix x(2, 2);
  x(0, 0) = 10, x(0, 1) = 6;
  x(1, 0) = 3, x(1, 1) = 8;
  for (const auto& spelling : spellings) {
    SCOPED_TRACE(spelling[0].op_type + " of " + spelling[0].inputs[0]);
    std::vector<OnnxNode> nodes = {node("Sub", {"a", "b"}, {"d"})};
    nodes.insert(nodes.end(), spelling.begin(), spelling.end());
    nodes.push_back(node("Sub", {"a", "h"}, {"y"}));
    const auto made = EngineModel::from_onnx(
        "min", model(nodes, {value("a", {-1, 1}), value("b", {-1, 1})}, {value("y", {-1, 1})}, weights));
    const Matrix found = multipliers_of(*made, x, Matrix(1, 2), ones_for(2), DeepLiftRule::reveal_cancel);
    EXPECT_FLOAT_EQ(found(0, 0) * 10, 3);
    EXPECT_FLOAT_EQ(found(0, 1) * 6, 3);
    EXPECT_FLOAT_EQ(found(1, 0) * 3, 1.5F);
    EXPECT_FLOAT_EQ(found(1, 1) * 8, 1.5F);
  }
}

// Three neurons, each with its own constant of the function. A second input that is a constant is no variable.
TEST(RevealCancel, FunctionsWithConstants) {
  struct Case {
    std::string op;
    bool constant_first;
    std::vector<float> constants;
    std::function<double(double z, double constant)> f, slope;
  };
  const std::vector<Case> cases = {{"PRelu",
                                    false,
                                    {0.1F, -0.5F, 2},
                                    [](double z, double c) { return z > 0 ? z : c * z; },
                                    [](double z, double c) { return z > 0 ? 1 : c; }},
                                   {"Max",
                                    true,
                                    {0.3F, -0.2F, 0},
                                    [](double z, double c) { return std::max(z, c); },
                                    [](double z, double c) { return z > c ? 1 : 0; }},
                                   {"Min",
                                    false,
                                    {0.3F, -0.2F, 0},
                                    [](double z, double c) { return std::min(z, c); },
                                    [](double z, double c) { return z < c ? 1 : 0; }},
                                   {"Pow",
                                    false,
                                    {2, 3, 0},
                                    [](double z, double c) { return std::pow(z, c); },
                                    [](double z, double c) { return c * std::pow(z, c - 1); }},
                                   {"Pow",
                                    true,
                                    {2, 1, 0.5F},
                                    [](double z, double c) { return std::pow(c, z); },
                                    [](double z, double c) { return std::log(c) * std::pow(c, z); }},
                                   {"Abs",
                                    false,
                                    {0, 0, 0},
                                    [](double z, double) { return std::abs(z); },
                                    [](double z, double) { return z > 0 ? 1 : -1; }}};
  const std::vector<float> w = random_floats(12, 70), b = random_floats(3, 71), v = random_floats(3, 72);
  const Matrix x = random_matrix(20, 4, 73, 2);
  const Matrix reference = random_matrix(20, 4, 74, 2);
  for (const Case& each : cases) {
    SCOPED_TRACE(each.op + (each.constant_first ? " of a constant" : ""));
    std::vector<std::string> inputs = {"z", "c"};
    if (each.constant_first) std::swap(inputs[0], inputs[1]);
    if (each.op == "Abs") inputs = {"z"};
    const auto made = EngineModel::from_onnx(
        "constants",
        model({node("Gemm", {"x", "w", "b"}, {"z"}), node(each.op, inputs, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
              {value("x", {-1, 4})}, {value("y", {-1, 1})},
              {floats("w", {4, 3}, w), floats("b", {3}, b), floats("v", {3, 1}, v), floats("c", {3}, each.constants)}));
    const Matrix found = multipliers_of(*made, x, reference, ones_for(20), DeepLiftRule::reveal_cancel);
    for (size_t r = 0; r < 20; r++) {
      std::vector<double> expected(4, 0.0);
      for (size_t o = 0; o < 3; o++) {
        const std::vector<Layer> neuron = {{4, 1, {w[o], w[3 + o], w[6 + o], w[9 + o]}, {b[o]}, {1}},
                                           {1, 1, {v[o]}, {0}, {1}}};
        const double constant = static_cast<double>(each.constants[o]);
        const auto part = reveal_cancel_by_hand(
            neuron, x.row(r).data(), reference.row(r).data(), [&](double z) { return each.f(z, constant); },
            [&](double z) { return each.slope(z, constant); });
        for (size_t j = 0; j < 4; j++) expected[j] += part[j];
      }
      for (size_t j = 0; j < 4; j++) {
        EXPECT_NEAR(found(r, j), expected[j], 3e-5 * (1 + std::abs(expected[j]))) << "row " << r << " column " << j;
      }
    }
  }
}

// Powers that are not defined everywhere, and an input that is repeated beside its constant, as in Max((N, 1), (3)).
TEST(RevealCancel, WhatIsNoFunctionOfOneElementIsRescaled) {
  const std::vector<std::vector<OnnxNode>> graphs = {
      {node("MatMul", {"x", "w"}, {"z"}), node("Pow", {"z", "root"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
      {node("MatMul", {"x", "w"}, {"z"}), node("Pow", {"z", "inverse"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
      {node("MatMul", {"x", "u"}, {"z"}), node("Max", {"z", "levels"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})}};
  Matrix x(1, 2);
  x(0, 0) = 2, x(0, 1) = 1;
  Matrix reference(1, 2);
  reference(0, 0) = 1, reference(0, 1) = 0.5F;
  for (const auto& nodes : graphs) {
    SCOPED_TRACE(nodes[1].op_type + " with " + nodes[1].inputs[1]);
    const auto made = EngineModel::from_onnx(
        "joined", model(nodes, {value("x", {-1, 2})}, {value("y", {-1, 1})},
                        {floats("w", {2, 3}, {3, 2, 1, -1, 1, 0.5F}), floats("u", {2, 1}, {2, -1}),
                         floats("v", {3, 1}, {1, 2, 3}), floats("root", {}, {0.5F}), floats("inverse", {}, {-1}),
                         floats("levels", {3}, {0, 2, 5})}));
    const Matrix found = multipliers_of(*made, x, reference, ones_for(1), DeepLiftRule::reveal_cancel);
    const Matrix expected = multipliers_of(*made, x, reference, ones_for(1), DeepLiftRule::rescale);
    for (size_t j = 0; j < 2; j++) EXPECT_NEAR(found(0, j), expected(0, j), 1e-6) << j;
  }
}

// 96 values of 4 MiB a row: twice that for derivatives is allowed, four times is not. The table of one entry
// refuses the rows on which models are tried, so that nothing of this is ever computed.
TEST(RevealCancel, TooMuchMemoryIsKnownBefore) {
  std::vector<OnnxNode> nodes = {node("Mul", {"x", "thousand"}, {"t"}),
                                 node("Cast", {"t"}, {"i"}, {int_attribute("to", 7)}),
                                 node("Gather", {"table", "i"}, {"g"}), node("Expand", {"x", "size"}, {"v0"})};
  for (size_t i = 0; i < 95; i++) {
    nodes.push_back(node("Tanh", {fmt::format("v{}", i)}, {fmt::format("v{}", i + 1)}));
  }
  nodes.push_back(node("ReduceSum", {"v95", "axis"}, {"s"}));
  nodes.push_back(node("Add", {"s", "g"}, {"y"}));
  const auto made =
      EngineModel::from_onnx("large", model(nodes, {value("x", {-1, 1})}, {value("y", {-1, 1})},
                                            {floats("thousand", {}, {1000}), floats("table", {1}, {0}),
                                             integers("size", {2}, {1, 1 << 20}), integers("axis", {1}, {1})}));
  ASSERT_NE(made->rescalable(), nullptr);
  EXPECT_EQ(made->rescalable()->refuses(DeepLiftRule::rescale), std::nullopt);
  EXPECT_EQ(made->rescalable()->refuses(DeepLiftRule::reveal_cancel),
            "keeping the parts of all differences would take too much memory");
}

}  // namespace
}  // namespace assay::testing

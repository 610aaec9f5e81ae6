#include <gtest/gtest.h>

#include <cmath>

#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

constexpr std::string_view kMethod = "deeplift_reveal_cancel";

void expect_values(const Toy& toy, const std::vector<std::vector<double>>& expected) {
  SCOPED_TRACE(toy.name);
  const Result found = explained(kMethod, setting_of(toy));
  for (size_t r = 0; r < expected.size(); r++) {
    for (size_t c = 0; c < expected[r].size(); c++) {
      EXPECT_NEAR(found.values(r, c), expected[r][c], 1e-6 * std::max(1.0, std::abs(expected[r][c])));
    }
  }
  EXPECT_EQ(found.out.evaluations, toy.rows.size() + 1);
}

// The paper's example, y = x1 - relu(x1 - x2) = min(x1, x2) with reference 0: half of the minimum for each input.
// At (10, 6) the parts of x1 - x2 are 10 and -6. Due to the first: (relu(10) - 0 + relu(4) - relu(-6)) / 2 = 7, to the
// second: (relu(-6) - 0 + relu(4) - relu(10)) / 2 = -3. x1: 10 - 7, x2: 0 + 3.
// At (3, 8) they are 3 and -8: (3 + 0 - 0) / 2 = 1.5 and (0 + 0 - 3) / 2 = -1.5. x1: 3 - 1.5, x2: 1.5.
TEST(DeepLiftRevealCancel, SeesBothInputsOfAMinimum) { expect_values(min_toy(), {{3, 3}, {1.5, 1.5}}); }

// The same with Sub and Relu as nodes of their own, where parts pass through apart.
TEST(DeepLiftRevealCancel, SeesThemThroughADifferenceToo) {
  Toy toy = min_toy();
  toy.model = EngineModel::from_onnx(
      "min", model({node("Sub", {"a", "b"}, {"d"}), node("Relu", {"d"}, {"h"}), node("Sub", {"a", "h"}, {"y"})},
                   {value("a", {-1, 1}), value("b", {-1, 1})}, {value("y", {-1, 1})}));
  expect_values(toy, {{3, 3}, {1.5, 1.5}});
}

TEST(DeepLiftRevealCancel, IsRescaleWhereNothingCancels) {
  expect_values(linear_toy(), {{2, -3, 0}, {-2, 1.5, 0}});
  expect_values(additive_toy(), {{8, 1.718281828459045, 1}});
  expect_values(product_toy(), {{7, 6}, {-1, -9}});
  // All contributions to each ReLU have one sign.
  expect_values(and_toy(), {{0.5, 0.5}, {0, 0}});
  expect_values(xor_toy(), {{0, 0}, {1, 0}, {0, 1}});
  expect_values(saturated_toy(), {{1, 0}});
}

// relu(x1 - x2) + relu(x2 - x1) = |x1 - x2|, XOR on corners. At (1, 1) it is 0, and the Rescale rule sees nothing. Each
// ReLU has the parts 1 and -1: the rise gets (1 + 0 - 0) / 2, the fall -1 / 2. x1 rises in the first and falls in the
// second: 1 / 2 - 1 / 2. At (1, 0): the first ReLU gives 1 to x1; in the second x1 makes -1 of nothing: 0.
TEST(DeepLiftRevealCancel, ExclusiveOrByHand) {
  Toy toy = xor_toy();
  toy.model = two_relus("difference", {1, -1, -1, 1}, {0, 0}, {1, 1});
  expect_values(toy, {{0, 0}, {1, 0}, {0, 1}});
  // relu(x1 - x2) alone at (1, 1): both parts are seen though its output is 0, as before and after.
  toy.model = two_relus("one", {1, 0, -1, 0}, {0, 0}, {1, 0});
  toy.rows = {{1, 1}};
  expect_values(toy, {{0.5, -0.5}});
}

// Two features with Shapley values: for y = f(a x1 - b x2) the rule is the Shapley value of its two parts.
TEST(DeepLiftRevealCancel, IsTheShapleyValueOfOneNeuron) {
  const auto graph = model({node("Gemm", {"x", "w", "b"}, {"z"}), node("Tanh", {"z"}, {"y"})}, {value("x", {-1, 2})},
                           {value("y", {-1, 1})}, {floats("w", {2, 1}, {1.5F, -0.5F}), floats("b", {1}, {0.3F})});
  Toy toy{"neuron", EngineModel::from_onnx("neuron", graph), {{1, 2}}, {0.2F, -1}, {}, {}};
  const double base = 1.5 * 0.2 + 0.5 + 0.3;
  const double plus = 1.5 * 0.8;
  const double minus = -0.5 * 3;
  const double v0 = std::tanh(base), v1 = std::tanh(base + plus), v2 = std::tanh(base + minus);
  const double v12 = std::tanh(base + plus + minus);
  expect_values(toy, {{(v1 - v0 + v12 - v2) / 2, (v2 - v0 + v12 - v1) / 2}});
}

// exp(r + d+) overflows while exp(x) does not: such an element takes the Rescale rule.
TEST(DeepLiftRevealCancel, PartsThatOverflowAreJoined) {
  const auto graph = model({node("MatMul", {"x", "w"}, {"z"}), node("Exp", {"z"}, {"y"})}, {value("x", {-1, 2})},
                           {value("y", {-1, 1})}, {floats("w", {2, 1}, {1, -1})});
  const Toy toy{"exp", EngineModel::from_onnx("exp", graph), {{200, 199}}, {0, 0}, {}, {}};
  const double rise = std::exp(1.0) - 1;
  expect_values(toy, {{200 * rise, -199 * rise}});
}

TEST(DeepLiftRevealCancel, ABackgroundIsAveraged) {
  Setting setting = setting_of(min_toy());
  setting.reference.rows = matrix_of({{0, 0}, {2, 2}});
  const Result found = explained(kMethod, setting);
  // From (2, 2) at (10, 6) the parts of x1 - x2 are 8 and -4: (8 + 4 - 0) / 2 = 6 and -2, so 8 - 6 and 2.
  EXPECT_NEAR(found.values(0, 0), (3 + 2) / 2.0, 1e-6);
  EXPECT_NEAR(found.values(0, 1), (3 + 2) / 2.0, 1e-6);
  EXPECT_NEAR(found.out.background_error(0, 0), 0.5, 1e-6);
  EXPECT_EQ(found.out.evaluations, 2U * 2 + 2);
}

TEST(DeepLiftRevealCancel, BitsDoNotDependOnThreadsOrPartition) {
  expect_same_bits_everywhere(kMethod, fixture_setting("torch_mlp_script", "predicted"));
  expect_same_bits_everywhere(kMethod, fixture_setting("torch_cnn_script", "predicted"));
}

}  // namespace
}  // namespace assay::testing

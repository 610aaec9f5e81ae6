#include "assay/model/ops/unary.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using Real = long double;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An operator, its definition in long double, and points that lie on every branch and away from kinks.
struct Case {
  std::string op;
  std::vector<OnnxAttribute> attributes;
  std::function<Real(Real)> definition;
  std::vector<double> at = {-7.25, -2.625, -0.75, -0.125, 0.125, 0.625, 1.75, 2.25, 6.5};
};

Real elu(Real x, Real alpha) { return x > 0 ? x : alpha * (std::exp(x) - 1); }

std::vector<Case> cases() {
  const std::vector<double> positive = {0.125, 0.5, 0.75, 1.5, 3, 8};
  const Real pi = std::numbers::pi_v<Real>;
  return {
      {"Relu", {}, [](Real x) { return x > 0 ? x : 0; }},
      {"LeakyRelu", {}, [](Real x) { return x > 0 ? x : Real(0.01F) * x; }},
      {"LeakyRelu", {float_attribute("alpha", 0.25F)}, [](Real x) { return x > 0 ? x : x / 4; }},
      {"Neg", {}, [](Real x) { return -x; }},
      {"Abs", {}, [](Real x) { return x < 0 ? -x : x; }},
      {"Elu", {}, [](Real x) { return elu(x, 1); }},
      {"Elu", {float_attribute("alpha", 2.5F)}, [](Real x) { return elu(x, 2.5L); }},
      {"Selu", {}, [](Real x) { return 1.05070102214813232421875L * elu(x, 1.67326319217681884765625L); }},
      {"Selu",
       {float_attribute("alpha", 2), float_attribute("gamma", 3)},
       [](Real x) { return x > 0 ? 3 * x : 3 * (2 * std::exp(x) - 2); }},
      {"Celu", {}, [](Real x) { return elu(x, 1); }},
      {"Celu", {float_attribute("alpha", 2)}, [](Real x) { return x > 0 ? x : 2 * (std::exp(x / 2) - 1); }},
      {"Gelu", {}, [](Real x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0L))); }},
      {"Gelu",
       {text_attribute("approximate", "tanh")},
       [pi](Real x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x))); }},
      {"HardSigmoid", {}, [](Real x) { return std::fmax(0, std::fmin(1, Real(0.2F) * x + 0.5L)); }},
      {"HardSigmoid",
       {float_attribute("alpha", 0.5F), float_attribute("beta", 0.75F)},
       [](Real x) { return std::fmax(0, std::fmin(1, x / 2 + 0.75L)); }},
      {"HardSwish", {}, [](Real x) { return x * std::fmax(0, std::fmin(1, x / 6 + 0.5L)); }},
      {"Softplus", {}, [](Real x) { return std::log(1 + std::exp(x)); }},
      {"Sigmoid", {}, [](Real x) { return 1 / (1 + std::exp(-x)); }},
      {"Tanh", {}, [](Real x) { return (std::exp(2 * x) - 1) / (std::exp(2 * x) + 1); }},
      {"Erf", {}, [](Real x) { return std::erf(x); }},
      {"Exp", {}, [](Real x) { return std::exp(x); }},
      {"Log", {}, [](Real x) { return std::log(x); }, positive},
      {"Sqrt", {}, [](Real x) { return std::sqrt(x); }, positive},
      {"Reciprocal", {}, [](Real x) { return 1 / x; }},
  };
}

int64_t shape_of(const std::vector<double>& values) { return static_cast<int64_t>(values.size()); }

TEST(Unary, ValuesEqualTheDefinition) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.op + " with " + std::to_string(each.attributes.size()) + " attributes");
    const SingleNode in_double(each.op, each.attributes, {variable<double>({shape_of(each.at), 1}, each.at)}, 1, 20);
    const std::vector<float> narrow(each.at.begin(), each.at.end());
    const SingleNode in_float(each.op, each.attributes, {variable<float>({shape_of(each.at), 1}, narrow)}, 1, 20);
    EXPECT_EQ(in_double.output_info(0)->dims, (Shape{shape_of(each.at), 1}));
    EXPECT_EQ(in_float.output_info(0)->type, OnnxElement::float32);
    const auto y = in_double.forward();
    const auto y_float = in_float.forward();
    for (size_t i = 0; i < each.at.size(); i++) {
      const auto expected = static_cast<double>(each.definition(each.at[i]));
      EXPECT_NEAR(y.outputs[0].data<double>()[i], expected, 2e-15 * (1 + std::abs(expected))) << each.at[i];
      EXPECT_NEAR(static_cast<double>(y_float.outputs[0].data<float>()[i]), expected, 4e-7 * (1 + std::abs(expected)))
          << each.at[i];
    }
  }
}

TEST(Unary, GradientsAndMultipliers) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.op + " with " + std::to_string(each.attributes.size()) + " attributes");
    const SingleNode node(each.op, each.attributes, {variable<double>({shape_of(each.at)}, each.at)}, 1, 20);
    expect_gradients(node);
    // Across kinks, near by, and exactly the same.
    std::vector<double> reference(each.at.rbegin(), each.at.rend());
    expect_rescale_complete(node, {variable<double>({shape_of(each.at)}, reference)});
    reference = each.at;
    for (double& value : reference) value += 1e-15;
    expect_rescale_complete(node, {variable<double>({shape_of(each.at)}, reference)});
    expect_rescale_complete(node, node.inputs());
  }
}

// f'(x) in both types, as the kernels give it.
std::pair<double, double> slope_at(const std::string& op, double x, std::vector<OnnxAttribute> attributes = {},
                                   int64_t opset = 20) {
  const SingleNode node(op, attributes, {variable<double>({1}, {x})}, 1, opset);
  const SingleNode narrow(op, attributes, {variable<float>({1}, {static_cast<float>(x)})}, 1, opset);
  double dx = 0;
  float dx_narrow = 0;
  const double dy = 1;
  const float dy_narrow = 1;
  void* in = &dx;
  const void* out = &dy;
  auto run = node.forward();
  node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
  in = &dx_narrow;
  out = &dy_narrow;
  auto run_narrow = narrow.forward();
  narrow.kernel().backward(run_narrow.buffers(), {{&out, 1}, {&in, 1}});
  return {dx, static_cast<double>(dx_narrow)};
}

// What torch.autograd gives (PyTorch 2.15).
TEST(Unary, SlopesAtKinksArePyTorchs) {
  const auto expect = [](const std::string& op, double x, double slope, std::vector<OnnxAttribute> attributes = {}) {
    const auto [wide, narrow] = slope_at(op, x, std::move(attributes));
    EXPECT_NEAR(wide, slope, 1e-6) << op << " at " << x;
    EXPECT_NEAR(narrow, slope, 1e-6) << op << " at " << x;
  };
  expect("Relu", 0, 0);
  expect("LeakyRelu", 0, 0.25, {float_attribute("alpha", 0.25F)});
  expect("Abs", 0, 0);
  expect("Elu", 0, 2, {float_attribute("alpha", 2)});
  expect("Selu", 0, 1.7580993);
  expect("Celu", 0, 1, {float_attribute("alpha", 2)});
  expect("HardSigmoid", -1, 0, {float_attribute("alpha", 0.5F), float_attribute("beta", 0.5F)});
  expect("HardSigmoid", 1, 0, {float_attribute("alpha", 0.5F), float_attribute("beta", 0.5F)});
  expect("HardSwish", -3, 0);
  expect("HardSwish", 3, 1);
  EXPECT_EQ(slope_at("Sqrt", 0).first, kInfinity);
}

double value_at(const std::string& op, double x) {
  return SingleNode(op, {}, {variable<double>({}, {x})}, 1, 20).forward().outputs[0].data<double>()[0];
}

TEST(Unary, ExtremesNeitherOverflowNorLoseDigits) {
  EXPECT_EQ(value_at("Softplus", 800), 800);
  EXPECT_DOUBLE_EQ(value_at("Softplus", -700), std::exp(-700.0));
  EXPECT_EQ(value_at("Sigmoid", 800), 1);
  EXPECT_DOUBLE_EQ(value_at("Sigmoid", -700), std::exp(-700.0));
  EXPECT_EQ(value_at("Sigmoid", -kInfinity), 0);
  EXPECT_EQ(value_at("Tanh", -kInfinity), -1);
  EXPECT_EQ(slope_at("Softplus", -800).first, 0);
  EXPECT_EQ(slope_at("Softplus", 800).first, 1);
  // exp(x) - 1 would be 0 here.
  EXPECT_DOUBLE_EQ(value_at("Elu", -1e-20), -1e-20);
  EXPECT_DOUBLE_EQ(value_at("Celu", -1e-20), -1e-20);
  EXPECT_NEAR(value_at("Gelu", -12) / (-12 * 1.776482112077679e-33), 1, 1e-12);
  EXPECT_TRUE(std::isnan(value_at("Log", -1)));
  EXPECT_EQ(value_at("Log", 0), -kInfinity);
  EXPECT_TRUE(std::isnan(value_at("Sqrt", -1)));
  EXPECT_EQ(value_at("Reciprocal", 0), kInfinity);
}

TEST(Unary, NanStaysNan) {
  for (const Case& each : cases()) EXPECT_TRUE(std::isnan(value_at(each.op, kNan))) << each.op;
}

template <class T>
std::vector<T> mapped(const std::string& op, const std::vector<T>& x) {
  const SingleNode node(op, {}, {variable<T>({static_cast<int64_t>(x.size())}, x)});
  EXPECT_FALSE(node.kernel().differentiable(0));
  const auto run = node.forward();
  const auto y = run.outputs[0].template values<T>();
  return {y.begin(), y.end()};
}

TEST(Unary, IntegersWrapAround) {
  EXPECT_EQ(mapped<int8_t>("Neg", {1, -128, 0, 127}), (std::vector<int8_t>{-1, -128, 0, -127}));
  EXPECT_EQ(mapped<int16_t>("Neg", {5, INT16_MIN}), (std::vector<int16_t>{-5, INT16_MIN}));
  EXPECT_EQ(mapped<int32_t>("Neg", {5, INT32_MIN}), (std::vector<int32_t>{-5, INT32_MIN}));
  EXPECT_EQ(mapped<int64_t>("Neg", {-7, INT64_MIN}), (std::vector<int64_t>{7, INT64_MIN}));
  EXPECT_EQ(mapped<int8_t>("Abs", {1, -128, 0, -127}), (std::vector<int8_t>{1, -128, 0, 127}));
  EXPECT_EQ(mapped<int16_t>("Abs", {-300, 300}), (std::vector<int16_t>{300, 300}));
  EXPECT_EQ(mapped<int32_t>("Abs", {-70000, INT32_MIN}), (std::vector<int32_t>{70000, INT32_MIN}));
  EXPECT_EQ(mapped<int64_t>("Abs", {-7, INT64_MIN}), (std::vector<int64_t>{7, INT64_MIN}));
  EXPECT_EQ(mapped<uint8_t>("Abs", {0, 200}), (std::vector<uint8_t>{0, 200}));
  EXPECT_EQ(mapped<uint16_t>("Abs", {60000}), (std::vector<uint16_t>{60000}));
  EXPECT_EQ(mapped<uint32_t>("Abs", {4000000000U}), (std::vector<uint32_t>{4000000000U}));
  EXPECT_EQ(mapped<uint64_t>("Abs", {UINT64_MAX}), (std::vector<uint64_t>{UINT64_MAX}));
}

TEST(Unary, EmptyTensors) {
  for (const Case& each : cases()) {
    const SingleNode node(each.op, each.attributes, {variable<float>({0, 3}, {})}, 1, 20);
    EXPECT_EQ(node.forward().outputs[0].dims(), (Shape{0, 3})) << each.op;
  }
  EXPECT_TRUE(mapped<int32_t>("Abs", {}).empty());
}

// Fused kernels use these on their own buffers.
TEST(Unary, ApplyAndPullBackAreForwardAndBackward) {
  for (const Case& each : cases()) {
    const std::vector<float> x(each.at.begin(), each.at.end());
    const SingleNode node(each.op, each.attributes, {variable<float>({shape_of(each.at)}, x)}, 1, 20);
    auto run = node.forward();
    const UnaryKernel* unary = node.kernel().unary();
    ASSERT_NE(unary, nullptr) << each.op;
    std::vector<float> y(x.size());
    unary->apply(x.data(), y.data(), x.size());
    EXPECT_TRUE(std::equal(y.begin(), y.end(), run.outputs[0].data<float>())) << each.op;
    std::vector<float> dy(x.size());
    for (size_t i = 0; i < dy.size(); i++) dy[i] = static_cast<float>(i) - 2.5F;
    std::vector<float> dx(x.size(), 0.0F);
    const void* out = dy.data();
    void* in = dx.data();
    node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
    unary->pull_back(x.data(), y.data(), dy.data(), dy.data(), x.size());
    EXPECT_EQ(dy, dx) << each.op;
  }
  const auto leaky_slope = [](const std::string& op) {
    return SingleNode(op, {}, {variable<float>({1}, {1})}, 1, 20).kernel().unary()->leaky_slope();
  };
  EXPECT_EQ(leaky_slope("Relu"), 0.0F);
  EXPECT_EQ(leaky_slope("LeakyRelu"), 0.01F);
  EXPECT_TRUE(std::isnan(leaky_slope("Elu")));
}

TEST(Unary, Refusals) {
  const auto refused = [](const std::string& op, std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs) {
    return sentence([&] { const SingleNode node(op, std::move(attributes), std::move(inputs), 1, 20); });
  };
  const NodeInput x = variable<float>({1}, {1});
  EXPECT_EQ(refused("Sigmoid", {}, {variable<int32_t>({1}, {1})}),
            "test: node 1 (Sigmoid): input 1 must be FLOAT or DOUBLE, found INT32");
  EXPECT_EQ(refused("Neg", {}, {variable<uint8_t>({1}, {1})}),
            "test: node 1 (Neg): input 1 must be a signed number, found UINT8");
  EXPECT_EQ(refused("Abs", {}, {variable<bool>({1}, {true})}),
            "test: node 1 (Abs): input 1 must be a number, found BOOL");
  EXPECT_EQ(refused("Abs", {}, {variable<std::string>({1}, {"a"})}),
            "test: node 1 (Abs): input 1 must be a number, found STRING");
  EXPECT_EQ(refused("Neg", {}, {x, x}), "test: node 1 (Neg): expected 1 input, found 2");
  EXPECT_EQ(refused("Tanh", {}, {}), "test: node 1 (Tanh): expected 1 input, found 0");
  EXPECT_EQ(refused("Celu", {float_attribute("alpha", 0)}, {x}),
            "test: node 1 (Celu): attribute 'alpha' must be a number other than 0");
  EXPECT_EQ(refused("Celu", {float_attribute("alpha", static_cast<float>(kNan))}, {x}),
            "test: node 1 (Celu): attribute 'alpha' must be a number other than 0");
  EXPECT_EQ(refused("Gelu", {text_attribute("approximate", "erf")}, {x}),
            "test: node 1 (Gelu): attribute 'approximate' must be 'none' or 'tanh', found 'erf'");
  EXPECT_EQ(refused("Elu", {int_attribute("alpha", 1)}, {x}),
            "test: node 1 (Elu): attribute 'alpha' must be FLOAT, found INT");
}

}  // namespace
}  // namespace assay::testing

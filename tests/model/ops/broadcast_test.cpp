#include "assay/model/ops/broadcast.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/elementwise.h"

namespace assay::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct ShapePair {
  Shape a;
  Shape b;
  Shape output;
};
std::vector<ShapePair> shape_pairs() {
  return {
      {{}, {}, {}},
      {{1}, {}, {1}},
      {{5}, {5}, {5}},
      {{2, 3}, {2, 3}, {2, 3}},
      {{4, 3}, {3}, {4, 3}},
      {{3}, {4, 3}, {4, 3}},
      {{4, 3}, {}, {4, 3}},
      {{1, 1}, {4, 3}, {4, 3}},
      {{4, 3}, {4, 1}, {4, 3}},
      {{4, 1}, {1, 3}, {4, 3}},
      {{2, 3, 4}, {3, 1}, {2, 3, 4}},
      {{2, 1, 4}, {3, 1}, {2, 3, 4}},
      {{2, 3, 4}, {2, 1, 4}, {2, 3, 4}},
      {{2, 3, 1, 2}, {1, 3, 5, 1}, {2, 3, 5, 2}},
      {{2, 1, 3, 1, 2}, {1, 2, 1, 2, 1}, {2, 2, 3, 2, 2}},
      {{3, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2}, {3, 2, 2, 2, 2, 2}},
      {{0, 3}, {3}, {0, 3}},
      {{0, 3}, {1, 1}, {0, 3}},
      {{1, 3}, {0, 1}, {0, 3}},
      {{2, 0}, {1}, {2, 0}},
  };
}

// Fewer, longer runs are what makes the loops fast.
TEST(Broadcast, DimensionsAreMerged) {
  const auto runs = [](const Shape& output, const Shape& a, const Shape& b) {
    size_t count = 0;
    BroadcastLoops<2>(output, {&a, &b}).runs([&](const auto&, size_t, size_t) { count++; });
    return count;
  };
  EXPECT_EQ(runs({5, 3, 4}, {5, 3, 4}, {5, 3, 4}), 1U);
  EXPECT_EQ(runs({5, 3, 4}, {5, 3, 4}, {}), 1U);
  EXPECT_EQ(runs({5, 3, 4}, {1, 1}, {5, 3, 4}), 1U);
  EXPECT_EQ(runs({5, 3, 4}, {5, 3, 4}, {3, 4}), 5U);
  EXPECT_EQ(runs({5, 3, 4}, {5, 3, 4}, {5, 1, 1}), 5U);
  EXPECT_EQ(runs({5, 3, 4}, {5, 3, 4}, {3, 1}), 15U);
  EXPECT_EQ(runs({5, 1, 4}, {5, 1, 4}, {1, 1, 4}), 5U);
  EXPECT_EQ(runs({0, 4}, {0, 4}, {4}), 0U);
}

// Both inputs above 0, so that quotients and powers are defined.
TEST(Broadcast, ArithmeticEqualsItsDefinitionForEveryShape) {
  const std::vector<std::pair<std::string, std::function<double(double, double)>>> operators = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Max", [](double a, double b) { return a > b ? a : b; }},
      {"Min", [](double a, double b) { return a < b ? a : b; }},
  };
  for (const auto& [op, definition] : operators) {
    for (const ShapePair& shapes : shape_pairs()) {
      SCOPED_TRACE(op + ": " + onnx_shape_text(shapes.a) + " and " + onnx_shape_text(shapes.b));
      const SingleNode node(op, {},
                            {random_input<double>(shapes.a, 1, 0.5, 2), random_input<double>(shapes.b, 2, 0.5, 2)});
      const auto run = node.forward();
      ASSERT_EQ(run.outputs[0].dims(), shapes.output);
      const auto at = [&](size_t input, size_t position) {
        const Tensor& tensor = *node.inputs()[input].tensor;
        return tensor.data<double>()[broadcast_index(tensor.dims(), shapes.output, position)];
      };
      for (size_t i = 0; i < run.outputs[0].count(); i++) {
        EXPECT_DOUBLE_EQ(run.outputs[0].data<double>()[i], definition(at(0, i), at(1, i))) << i;
      }
      if (run.outputs[0].count() == 0) continue;
      expect_gradients(node);
      expect_rescale_complete(node,
                              {random_input<double>(shapes.a, 3, 0.5, 2), random_input<double>(shapes.b, 4, 0.5, 2)});
      // One input that stands still, and both.
      expect_rescale_complete(node, {random_input<double>(shapes.a, 3, 0.5, 2), node.inputs()[1]});
      expect_rescale_complete(node, {node.inputs()[0], random_input<double>(shapes.b, 4, 0.5, 2)});
      expect_rescale_complete(node, node.inputs());
    }
  }
}

TEST(Broadcast, SignsAndFloat32) {
  for (const std::string op : {"Mul", "Div", "Add", "Sub"}) {
    const SingleNode node(op, {}, {random_input<double>({3, 5}, 11), random_input<double>({5}, 12)});
    expect_gradients(node, 1e-6, 1e-5);
    expect_rescale_complete(node, {random_input<double>({3, 5}, 13), random_input<double>({5}, 14)});
  }
  const SingleNode narrow("Sub", {}, {variable<float>({2, 2}, {1, 2, 3, 4}), variable<float>({2}, {0.5F, 10})});
  const auto run = narrow.forward();
  EXPECT_EQ(std::vector<float>(run.outputs[0].data<float>(), run.outputs[0].data<float>() + 4),
            (std::vector<float>{0.5F, -8, 2.5F, -6}));
}

// Wide enough for every product. The keyword keeps -Wpedantic quiet.
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
class Integers : public ::testing::Test {};
using IntegerTypes = ::testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, WrapAndNeverTrap) {
  using T = TypeParam;
  using Unsigned = std::make_unsigned_t<T>;
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kMost = std::numeric_limits<T>::max();
  const std::vector<T> a = {kLeast, kMost, kMost, T(100), T(7), T(0), kLeast};
  const std::vector<T> b = {T(-1), T(1), kMost, T(7), T(0), T(0), kLeast};
  // A second way to the same bits: 128 bits, cut off.
  const auto cut = [&](const auto& exact) {
    std::vector<T> result;
    for (size_t i = 0; i < a.size(); i++) {
      result.push_back(static_cast<T>(
          static_cast<Unsigned>(static_cast<UnsignedWide>(exact(static_cast<Wide>(a[i]), static_cast<Wide>(b[i]))))));
    }
    return result;
  };
  EXPECT_EQ((computed<T, T>("Add", {a, b})), cut([](Wide x, Wide y) { return x + y; }));
  EXPECT_EQ((computed<T, T>("Sub", {a, b})), cut([](Wide x, Wide y) { return x - y; }));
  EXPECT_EQ((computed<T, T>("Mul", {a, b})),
            cut([](Wide x, Wide y) { return static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y); }));
  EXPECT_EQ((computed<T, T>("Div", {a, b})), cut([](Wide x, Wide y) { return y == 0 ? Wide{0} : x / y; }));
  EXPECT_EQ((computed<T, T>("Max", {a, b})), cut([](Wide x, Wide y) { return x > y ? x : y; }));
  EXPECT_EQ((computed<T, T>("Min", {a, b})), cut([](Wide x, Wide y) { return x < y ? x : y; }));
  EXPECT_EQ((computed<bool, T>("Less", {a, b})),
            (std::vector<bool>{kLeast < T(-1), false, false, false, false, false, false}));
  EXPECT_EQ((computed<bool, T>("Greater", {a, b})), (std::vector<bool>{false, true, false, true, true, false, false}));
  EXPECT_EQ((computed<bool, T>("Equal", {a, b})), (std::vector<bool>{false, false, true, false, false, true, true}));
}

TEST(Broadcast, IntegerDivisionTruncates) {
  EXPECT_EQ((computed<int32_t, int32_t>("Div", {{7, -7, 7, -7}, {2, 2, -2, -2}})),
            (std::vector<int32_t>{3, -3, -3, 3}));
}

TEST(Broadcast, ComparisonsOfFloatsTextAndTruth) {
  EXPECT_EQ((computed<bool, double>("Less", {{1, 2, kNan, -0.0}, {2, 2, 1, 0.0}})),
            (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ((computed<bool, float>("Greater", {{1, 3, 2}, {2, 2, 2}})), (std::vector<bool>{false, true, false}));
  EXPECT_EQ((computed<bool, double>("Equal", {{1, kNan, -0.0}, {1, kNan, 0.0}})),
            (std::vector<bool>{true, false, true}));
  EXPECT_EQ((computed<bool, std::string>("Equal", {{"a", "", "cat"}, {"a", "b", "car"}})),
            (std::vector<bool>{true, false, false}));
  const SingleNode truth("Equal", {}, {variable<bool>({2, 2}, {true, false, true, true}), variable<bool>({}, {true})});
  const auto run = truth.forward();
  const auto found = run.outputs[0].values<bool>();
  EXPECT_EQ(std::vector<bool>(found.begin(), found.end()), (std::vector<bool>{true, false, true, true}));
}

TEST(Extremum, AnyNumberOfInputs) {
  EXPECT_EQ((computed<float, float>("Max", {{3, -1}})), (std::vector<float>{3, -1}));
  EXPECT_EQ((computed<double, double>("Max", {{1, 5, 3}, {2, 4, 3}, {0, 9, -3}})), (std::vector<double>{2, 9, 3}));
  EXPECT_EQ((computed<double, double>("Min", {{1, 5, 3}, {2, 4, 3}, {0, 9, -3}}, 8)), (std::vector<double>{0, 4, -3}));
  for (const std::string op : {"Max", "Min"}) {
    const SingleNode node(op, {},
                          {random_input<double>({2, 1, 4}, 21), random_input<double>({3, 1}, 22),
                           random_input<double>({}, 23, -1, 1), random_input<double>({2, 3, 4}, 24)});
    EXPECT_EQ(node.output_info(0)->dims, (Shape{2, 3, 4}));
    expect_gradients(node, 1e-7, 1e-5);
    for (uint64_t seed = 30; seed < 40; seed++) {
      expect_rescale_complete(node,
                              {random_input<double>({2, 1, 4}, seed), random_input<double>({3, 1}, seed + 100),
                               random_input<double>({}, seed + 200), random_input<double>({2, 3, 4}, seed + 300)});
    }
  }
}

TEST(Extremum, NanWinsAndTiesShare) {
  for (const std::string op : {"Max", "Min"}) {
    const auto y = computed<double, double>(op, {{kNan, 1}, {1, kNan}, {2, 2}});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << op;
    const SingleNode tie(op, {}, {variable<double>({2}, {1, 1}), variable<double>({}, {1})});
    EXPECT_EQ(derivatives(tie), (Table{{0.5, 0.5}, {1}})) << op;
  }
}

TEST(Extremum, DeepLiftGivesTheDifferenceToTheWinner) {
  // max rises from 2 (second) to 5 (first): all 3 go to the first, which rose by 4.
  const SingleNode rises("Max", {}, {variable<double>({1}, {5}), variable<double>({1}, {0})});
  const std::vector<NodeInput> from = {variable<double>({1}, {1}), variable<double>({1}, {2})};
  EXPECT_EQ(derivatives(rises, &from), (Table{{0.75}, {0}}));
  // It falls from 5 to 2: all goes to the one that won at the reference.
  const SingleNode falls("Max", {}, from);
  EXPECT_EQ(derivatives(falls, &rises.inputs()), (Table{{0.75}, {0}}));
  // min falls from 2 to 0: to the one that wins now, the second, which fell by 2.
  const SingleNode mirror("Min", {}, {variable<double>({1}, {5}), variable<double>({1}, {0})});
  const std::vector<NodeInput> higher = {variable<double>({1}, {3}), variable<double>({1}, {2})};
  EXPECT_EQ(derivatives(mirror, &higher), (Table{{0}, {1}}));
  // Nothing changes: the gradient.
  EXPECT_EQ(derivatives(rises, &rises.inputs()), (Table{{1}, {0}}));
}

TEST(Arithmetic, DeepLiftRules) {
  const std::vector<NodeInput> from = {variable<double>({1}, {1}), variable<double>({1}, {2})};
  const std::vector<NodeInput> to = {variable<double>({1}, {3}), variable<double>({1}, {5})};
  EXPECT_EQ(derivatives(SingleNode("Mul", {}, to), &from), (Table{{3.5}, {2}}));
  EXPECT_EQ(derivatives(SingleNode("Div", {}, to), &from), (Table{{0.35}, {-0.2}}));
  // 1^2 -> 3^5: along the base (3^2 - 1 and 3^5 - 1), along the exponent (0 and 3^5 - 3^2).
  EXPECT_EQ(derivatives(SingleNode("Pow", {}, to), &from), (Table{{(8 + 242) / 2.0 / 2}, {(0 + 234) / 2.0 / 3}}));
}

TEST(Pow, MixedTypes) {
  const auto power = [](NodeInput base, NodeInput exponent) {
    const SingleNode node("Pow", {}, {std::move(base), std::move(exponent)});
    const auto run = node.forward();
    return with_element(run.outputs[0].type(), [&]<class T>() {
      std::vector<double> values;
      if constexpr (std::is_arithmetic_v<T>) {
        for (const T value : run.outputs[0].values<T>()) values.push_back(static_cast<double>(value));
      }
      return std::pair(run.outputs[0].type(), values);
    });
  };
  using Result = std::pair<OnnxElement, std::vector<double>>;
  EXPECT_EQ(power(variable<float>({3}, {1, 2, 3}), variable<int64_t>({3}, {4, 5, -1})),
            (Result{OnnxElement::float32, {1, 32, static_cast<double>(1.0F / 3)}}));
  EXPECT_EQ(power(variable<double>({2}, {4, 9}), variable<float>({}, {0.5F})), (Result{OnnxElement::float64, {2, 3}}));
  EXPECT_EQ(power(variable<int32_t>({3}, {1, 2, 3}), variable<float>({3}, {4, 5, 6})),
            (Result{OnnxElement::int32, {1, 32, 729}}));
  EXPECT_EQ(power(variable<int64_t>({4}, {-2, 10, 3, 0}), variable<uint8_t>({4}, {3, 18, 0, 0})),
            (Result{OnnxElement::int64, {-8, 1e18, 1, 1}}));
  // Negative exponents truncate, overflow wraps, floating results are brought into range.
  EXPECT_EQ(power(variable<int32_t>({6}, {1, -1, -1, 2, 0, -2}), variable<int8_t>({6}, {-3, -3, -2, -1, -1, 31})),
            (Result{OnnxElement::int32, {1, -1, 1, 0, 0, -2147483648.0}}));
  EXPECT_EQ(power(variable<int32_t>({4}, {10, -10, 0, -8}), variable<double>({4}, {99, 99, -1, 0.5})),
            (Result{OnnxElement::int32, {2147483647.0, -2147483648.0, 2147483647.0, 0}}));
  EXPECT_EQ(power(variable<int64_t>({1}, {3}), variable<uint64_t>({1}, {UINT64_MAX})).first, OnnxElement::int64);
  EXPECT_FALSE(
      SingleNode("Pow", {}, {variable<int32_t>({1}, {2}), variable<float>({1}, {2})}).kernel().differentiable(0));
}

TEST(Pow, DerivativesOfMixedTypesAndAtZero) {
  for (const int64_t exponent : {-2, 0, 1, 2, 3, 5}) {
    const SingleNode node("Pow", {}, {random_input<double>({7}, 40), variable<int64_t>({}, {exponent})});
    EXPECT_FALSE(node.kernel().differentiable(1));
    expect_gradients(node, 1e-6, 1e-5);
    expect_rescale_complete(node, {random_input<double>({7}, 41), node.inputs()[1]}, 1e-8);
  }
  // Negative bases with an exponent of the base's type; it does not change, so its multiplier must do no harm.
  const SingleNode node("Pow", {}, {random_input<double>({7}, 40), variable<double>({}, {3})});
  expect_rescale_complete(node, {random_input<double>({7}, 41), node.inputs()[1]});
  // PyTorch's: 0 ** b has no slope by b for b >= 0, and a ** 0 none by a.
  const SingleNode zero("Pow", {}, {variable<double>({3}, {0, 0, 2}), variable<double>({3}, {0, 2, 0})});
  EXPECT_EQ(derivatives(zero), (Table{{0, 0, 0}, {0, 0, std::log(2.0)}}));
  // The exponent's own derivative in another type than the base's.
  const SingleNode wide("Pow", {}, {variable<float>({1}, {2}), variable<double>({1}, {3})});
  EXPECT_TRUE(wide.kernel().differentiable(1));
  auto run = wide.forward();
  const float dy = 1;
  const void* out = &dy;
  float da = 0;
  double db = 0;
  void* in[] = {&da, &db};
  wide.kernel().backward(run.buffers(), {{&out, 1}, in});
  EXPECT_EQ(da, 12);
  EXPECT_NEAR(db, 8 * std::log(2.0), 1e-6);
}

// A row of a batch gets the same bits as alone, in values, derivatives and multipliers.
TEST(Broadcast, RowsDoNotDependOnTheBatch) {
  const size_t rows = 5;
  for (const Shape& second : std::vector<Shape>{{7}, {1, 7}, {3, 7}, {3, 1}, {}}) {
    for (const std::string op : {"Mul", "Div", "Pow", "Max", "PRelu"}) {
      const NodeInput all = random_input<float>({5, 3, 7}, 80, 0.5, 2);
      const NodeInput all_r = random_input<float>({5, 3, 7}, 81, 0.5, 2);
      const NodeInput other = random_input<float>(second, 82, 0.5, 2);
      const std::vector<float> dy(rows * 21, 0.75F);
      const auto row = [](const NodeInput& from, size_t i) {
        const float* first = from.tensor->data<float>() + i * 21;
        return variable<float>({1, 3, 7}, std::vector<float>(first, first + 21));
      };
      const auto by_first = [&](const NodeInput& x, const NodeInput& r) {
        const SingleNode node(op, {}, {x, other});
        auto run = node.forward();
        auto base = node.forward({r, other});
        std::vector<float> found(run.outputs[0].data<float>(), run.outputs[0].data<float>() + run.outputs[0].count());
        for (const bool deep_lift : {false, true}) {
          std::vector<float> dx(x.tensor->count(), 0.0F);
          const void* out = dy.data();
          void* in[] = {dx.data(), nullptr};
          if (deep_lift)
            node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, in});
          else
            node.kernel().backward(run.buffers(), {{&out, 1}, in});
          found.insert(found.end(), dx.begin(), dx.end());
        }
        return found;
      };
      const auto whole = by_first(all, all_r);
      for (size_t i = 0; i < rows; i++) {
        const auto alone = by_first(row(all, i), row(all_r, i));
        for (size_t part = 0; part < 3; part++) {
          for (size_t k = 0; k < 21; k++) {
            EXPECT_EQ(alone[part * 21 + k], whole[(part * rows + i) * 21 + k]) << op << onnx_shape_text(second);
          }
        }
      }
    }
  }
}

TEST(Broadcast, NullsAreLeftAlone) {
  for (const std::string op : {"Add", "Mul", "Pow", "Max", "PRelu"}) {
    const SingleNode node(op, {}, {variable<double>({2}, {1, 2}), variable<double>({2}, {3, 4})});
    auto run = node.forward();
    const double dy[] = {1, 1};
    const void* out = dy;
    double db[] = {0, 0};
    void* in[] = {nullptr, db};
    node.kernel().backward(run.buffers(), {{&out, 1}, in});
    node.kernel().rescale(run.buffers(), run.buffers(), {{&out, 1}, in});
    const double after[] = {db[0], db[1]};
    out = nullptr;
    node.kernel().backward(run.buffers(), {{&out, 1}, in});
    node.kernel().rescale(run.buffers(), run.buffers(), {{&out, 1}, in});
    EXPECT_EQ(db[0], after[0]) << op;
    EXPECT_EQ(db[1], after[1]) << op;
  }
}

TEST(Broadcast, Refusals) {
  const auto refused = [](const std::string& op, std::vector<NodeInput> inputs, int64_t opset = 17) {
    return sentence([&] { const SingleNode node(op, {}, std::move(inputs), 1, opset); });
  };
  const NodeInput row = variable<float>({3}, {1, 2, 3});
  const NodeInput pair = variable<float>({2}, {1, 2});
  const NodeInput whole = variable<int64_t>({3}, {1, 2, 3});
  const NodeInput text = variable<std::string>({1}, {"a"});
  const NodeInput truth = variable<bool>({1}, {true});
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Equal", "Less", "Greater", "PRelu"}) {
    EXPECT_EQ(refused(op, {row, pair}), "test: node 1 (" + op +
                                            "): the dimensions of input 2 (2) do not broadcast with those of input 1 "
                                            "(3)");
  }
  for (const std::string op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less", "Greater", "PRelu"}) {
    EXPECT_EQ(refused(op, {row, whole}),
              "test: node 1 (" + op + "): inputs 1 and 2 must be of one type, found FLOAT and INT64");
  }
  for (const std::string op : {"Add", "Max", "Pow", "Less", "PRelu"}) {
    EXPECT_EQ(refused(op, {text, text}), "test: node 1 (" + op + "): input 1 must be a number, found STRING");
    EXPECT_EQ(refused(op, {truth, truth}), "test: node 1 (" + op + "): input 1 must be a number, found BOOL");
  }
  EXPECT_EQ(refused("Add", {row}), "test: node 1 (Add): expected 2 inputs, found 1");
  EXPECT_EQ(refused("Add", {left_out(), row}), "test: node 1 (Add): input 1 is missing");
  EXPECT_EQ(refused("Max", {}), "test: node 1 (Max): expected 1 or more inputs, found 0");
  EXPECT_EQ(refused("Max", {row, left_out(), row}), "test: node 1 (Max): input 2 is missing");
  EXPECT_EQ(refused("Max", {row, row, pair}),
            "test: node 1 (Max): the dimensions of input 3 (2) do not broadcast with those of the inputs before (3)");
  EXPECT_EQ(refused("Pow", {variable<int8_t>({1}, {1}), row}),
            "test: node 1 (Pow): input 1 must be FLOAT, DOUBLE, INT32 or INT64, found INT8");
  // Two small inputs whose output would be large.
  const std::vector<float> many(1 << 14);
  const std::string large = refused("Mul", {variable<float>({1 << 14, 1}, many), variable<float>({1 << 14}, many)});
  EXPECT_NE(large.find("it needs 268435456 elements of 4 bytes"), std::string::npos) << large;
}

}  // namespace
}  // namespace assay::testing

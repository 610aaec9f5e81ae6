// PRelu, Where and Clip: operators that choose between inputs.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "assay/model/ops/unary.h"
#include "tests/message.h"
#include "tests/model/ops/elementwise.h"

namespace assay::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(PRelu, ValuesAndDerivatives) {
  EXPECT_EQ((computed<float, float>("PRelu", {{-2, 0, 3}, {0.5F, 0.5F, 7}})), (std::vector<float>{-1, 0, 3}));
  EXPECT_EQ((computed<int32_t, int32_t>("PRelu", {{-2, 0, 3, INT32_MIN}, {3, 3, 7, 3}}, 9)),
            (std::vector<int32_t>{-6, 0, 3, INT32_MIN}));
  for (const Shape& slope : std::vector<Shape>{{}, {1}, {4}, {3, 1}, {3, 4}, {2, 3, 4}}) {
    const SingleNode node("PRelu", {}, {random_input<double>({2, 3, 4}, 50), random_input<double>(slope, 51)});
    EXPECT_EQ(node.output_info(0)->dims, (Shape{2, 3, 4}));
    expect_gradients(node);
    expect_rescale_complete(node, {random_input<double>({2, 3, 4}, 52), random_input<double>(slope, 53)});
    expect_rescale_complete(node, {random_input<double>({2, 3, 4}, 52), node.inputs()[1]});
    expect_rescale_complete(node, node.inputs());
  }
  // At 0 the slope, as PyTorch.
  const SingleNode zero("PRelu", {}, {variable<double>({1}, {0}), variable<double>({1}, {0.25})});
  EXPECT_EQ(derivatives(zero), (Table{{0.25}, {0}}));
}

TEST(Where, ChoosesForEveryTypeAndShape) {
  const Shape output = {2, 3, 4};
  const std::vector<std::vector<Shape>> shapes = {{{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
                                                  {{2, 1, 1}, {3, 1}, {4}},
                                                  {{4}, {2, 3, 1}, {}},
                                                  {{}, {2, 3, 4}, {1, 4}},
                                                  {{3, 4}, {}, {2, 1, 1}}};
  for (const auto& each : shapes) {
    const Shape& c = each[0];
    const Shape& a = each[1];
    const Shape& b = each[2];
    std::vector<bool> condition(element_count(c));
    for (size_t i = 0; i < condition.size(); i++) condition[i] = i % 3 != 1;
    const SingleNode node(
        "Where", {}, {variable<bool>(c, condition), random_input<double>(a, 60), random_input<double>(b, 61)}, 1, 9);
    const auto run = node.forward();
    ASSERT_EQ(run.outputs[0].dims(), output);
    for (size_t i = 0; i < 24; i++) {
      const size_t branch = condition[broadcast_index(c, output, i)] ? 1 : 2;
      const Tensor& chosen = *node.inputs()[branch].tensor;
      EXPECT_EQ(run.outputs[0].data<double>()[i], chosen.data<double>()[broadcast_index(chosen.dims(), output, i)]);
    }
    EXPECT_FALSE(node.kernel().differentiable(0));
    expect_gradients(node);
    expect_rescale_complete(node, {node.inputs()[0], random_input<double>(a, 62), random_input<double>(b, 63)});
    // The condition flips, and so do all its elements.
    std::vector<bool> flipped = condition;
    flipped.flip();
    expect_rescale_complete(node,
                            {variable<bool>(c, flipped), random_input<double>(a, 62), random_input<double>(b, 63)});
  }
  const SingleNode text("Where", {},
                        {variable<bool>({2}, {true, false}), variable<std::string>({2}, {"a", "b"}),
                         variable<std::string>({}, {"other"})});
  const auto run = text.forward();
  EXPECT_EQ(run.outputs[0].data<std::string>()[0], "a");
  EXPECT_EQ(run.outputs[0].data<std::string>()[1], "other");
  const SingleNode empty("Where", {},
                         {variable<bool>({0, 1}, {}), variable<int8_t>({3}, {1, 2, 3}), variable<int8_t>({}, {0})});
  EXPECT_EQ(empty.forward().outputs[0].dims(), (Shape{0, 3}));
}

TEST(Where, AFlippedConditionGivesTheRescaleRuleOfWhatIsComposed) {
  // leaky relu, composed: x > 0 ? x : x / 4 from -4 to 2. The multiplier of x must be (2 + 1) / 6.
  const SingleNode node("Where", {},
                        {variable<bool>({1}, {true}), variable<double>({1}, {2}), variable<double>({1}, {0.5})});
  const std::vector<NodeInput> reference = {variable<bool>({1}, {false}), variable<double>({1}, {-4}),
                                            variable<double>({1}, {-1})};
  const Table m = derivatives(node, &reference);
  EXPECT_DOUBLE_EQ(m[1][0] + m[2][0] / 4, 0.5);
  // Branches that do not change cannot account for the jump; a mask is infinite on both sides.
  const SingleNode mask("Where", {},
                        {variable<bool>({1}, {true}), variable<double>({1}, {2}), variable<double>({1}, {-kInfinity})});
  const std::vector<NodeInput> flipped = {variable<bool>({1}, {false}), mask.inputs()[1], mask.inputs()[2]};
  EXPECT_EQ(derivatives(mask, &flipped), (Table{{0}, {0.5}, {0.5}}));
}

TEST(Clip, BoundsAsAttributesAndAsInputs) {
  const std::vector<double> x = {-3, -1, -0.5, 0.25, 1, 4};
  const std::vector<double> clipped = {-1, -1, -0.5, 0.25, 1, 1};
  const auto values = [](const SingleNode& node) {
    const auto run = node.forward();
    return std::vector<double>(run.outputs[0].data<double>(), run.outputs[0].data<double>() + run.outputs[0].count());
  };
  const NodeInput data = variable<double>({2, 3}, x);
  const NodeInput low = variable<double>({}, {-1});
  const NodeInput high = variable<double>({1}, {1});
  const SingleNode attributes("Clip", {float_attribute("min", -1), float_attribute("max", 1)}, {data}, 1, 10);
  const SingleNode constants("Clip", {}, {data, constant<double>({}, {-1}), constant<double>({1}, {1})}, 1, 11);
  const SingleNode inputs("Clip", {}, {data, low, high}, 1, 13);
  for (const SingleNode* node : {&attributes, &constants, &inputs}) {
    EXPECT_EQ(node->output_info(0)->dims, (Shape{2, 3}));
    EXPECT_EQ(values(*node), clipped);
    // 0 at the bounds, as torch.clamp.
    EXPECT_EQ(derivatives(*node)[0], (std::vector<double>{0, 0, 1, 1, 0, 0}));
  }
  EXPECT_NE(attributes.kernel().unary(), nullptr);
  EXPECT_NE(constants.kernel().unary(), nullptr);
  EXPECT_EQ(derivatives(inputs), (Table{{0, 0, 1, 1, 0, 0}, {1}, {1}}));
  EXPECT_EQ(values(SingleNode("Clip", {}, {data}, 1, 6)), x);
  EXPECT_EQ(values(SingleNode("Clip", {}, {data}, 1, 12)), x);
  EXPECT_EQ(values(SingleNode("Clip", {}, {data, low}, 1, 12)), (std::vector<double>{-1, -1, -0.5, 0.25, 1, 4}));
  EXPECT_EQ(values(SingleNode("Clip", {}, {data, left_out(), high})), (std::vector<double>{-3, -1, -0.5, 0.25, 1, 1}));
  EXPECT_EQ(values(SingleNode("Clip", {float_attribute("max", 0)}, {data}, 1, 7)),
            (std::vector<double>{-3, -1, -0.5, 0, 0, 0}));
  // The upper bound wins; nan and infinity are kept where nothing bounds them.
  for (const bool known : {false, true}) {
    const NodeInput two = known ? constant<double>({}, {2}) : variable<double>({}, {2});
    const NodeInput one = known ? constant<double>({}, {1}) : variable<double>({}, {1});
    const SingleNode crossed("Clip", {}, {data, two, one});
    EXPECT_EQ(values(crossed), std::vector<double>(6, 1.0));
    EXPECT_EQ(derivatives(crossed)[0], std::vector<double>(6, 0.0));
    const auto y = values(SingleNode("Clip", {}, {variable<double>({2}, {kNan, kInfinity}), one}));
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], kInfinity);
  }
  EXPECT_EQ(derivatives(SingleNode("Clip", {}, {data, variable<double>({}, {2}), high})),
            (Table{{0, 0, 0, 0, 0, 0}, {0}, {6}}));
}

TEST(Clip, DerivativesAndMultipliers) {
  const NodeInput x = random_input<double>({4, 5}, 70);
  const NodeInput r = random_input<double>({4, 5}, 71);
  const SingleNode known("Clip", {}, {x, constant<double>({}, {-0.7}), constant<double>({}, {0.9})});
  expect_gradients(known, 1e-7, 1e-5);
  expect_rescale_complete(known, {r, known.inputs()[1], known.inputs()[2]});
  const SingleNode moving("Clip", {}, {x, variable<double>({}, {-0.7}), variable<double>({}, {0.9})});
  expect_gradients(moving, 1e-7, 1e-5);
  expect_rescale_complete(moving, {r, variable<double>({}, {-1.1}), variable<double>({}, {0.3})});
  expect_rescale_complete(moving, {r, variable<double>({}, {0.4}), variable<double>({}, {1.3})});
  expect_rescale_complete(moving, {x, variable<double>({}, {1.4}), variable<double>({}, {0.1})});
  expect_rescale_complete(moving, moving.inputs());
  // x and the bound are equal: they share the difference.
  const SingleNode tie("Clip", {}, {variable<double>({1}, {0}), variable<double>({}, {0})});
  const std::vector<NodeInput> lower = {variable<double>({1}, {-1}), variable<double>({}, {-2})};
  EXPECT_EQ(derivatives(tie, &lower), (Table{{0.5}, {0.25}}));
  const SingleNode above("Clip", {}, {x, variable<double>({}, {0.2})});
  expect_gradients(above, 1e-7, 1e-5);
  expect_rescale_complete(above, {r, variable<double>({}, {0.1})});
}

TEST(Clip, Integers) {
  const SingleNode node("Clip", {}, {variable<int8_t>({4}, {-128, -3, 5, 127}), left_out(), constant<int8_t>({}, {4})},
                        1, 12);
  const auto run = node.forward();
  const auto y = run.outputs[0].values<int8_t>();
  EXPECT_EQ(std::vector<int8_t>(y.begin(), y.end()), (std::vector<int8_t>{-128, -3, 4, 4}));
  EXPECT_FALSE(node.kernel().differentiable(0));
  EXPECT_EQ(SingleNode("Clip", {}, {variable<uint64_t>({1}, {UINT64_MAX})}).forward().outputs[0].data<uint64_t>()[0],
            UINT64_MAX);
}

TEST(Selection, Refusals) {
  const auto refused = [](const std::string& op, std::vector<NodeInput> inputs, int64_t opset = 17) {
    return sentence([&] { const SingleNode node(op, {}, std::move(inputs), 1, opset); });
  };
  const NodeInput row = variable<float>({3}, {1, 2, 3});
  const NodeInput pair = variable<float>({2}, {1, 2});
  const NodeInput whole = variable<int64_t>({3}, {1, 2, 3});
  const NodeInput truth = variable<bool>({1}, {true});
  EXPECT_EQ(refused("PRelu", {row, variable<float>({1, 3}, {1, 2, 3})}),
            "test: node 1 (PRelu): the dimensions of the slope (1 x 3) do not broadcast to those of the input (3)");
  EXPECT_EQ(refused("Where", {row, row, row}), "test: node 1 (Where): input 1 must be BOOL, found FLOAT");
  EXPECT_EQ(refused("Where", {truth, row, whole}),
            "test: node 1 (Where): inputs 2 and 3 must be of one type, found FLOAT and INT64");
  EXPECT_EQ(refused("Clip", {row, pair}),
            "test: node 1 (Clip): the bound in input 2 must be one number, found dimensions 2");
  EXPECT_EQ(refused("Clip", {row, variable<double>({}, {1})}),
            "test: node 1 (Clip): input 2 must be FLOAT, found DOUBLE");
  EXPECT_EQ(refused("Clip", {truth}), "test: node 1 (Clip): input 1 must be a number, found BOOL");
  EXPECT_EQ(refused("Clip", {whole}, 10), "test: node 1 (Clip): input 1 must be FLOAT or DOUBLE, found INT64");
  EXPECT_EQ(refused("Clip", {row, variable<float>({}, {1})}, 10), "test: node 1 (Clip): expected 1 input, found 2");
}

}  // namespace
}  // namespace assay::testing

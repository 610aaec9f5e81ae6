// BatchNormalization and LayerNormalization.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay {
namespace {

using namespace assay::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<T> values_of(const SingleNode& node, size_t output = 0) {
  const SingleNode::Run run = node.forward();
  const auto values = run.outputs[output].values<T>();
  return {values.begin(), values.end()};
}

template <class T>
std::vector<NodeInput> batch_inputs(const Shape& dims, int64_t channels) {
  return {random_input<T>(dims, 1), random_input<T>({channels}, 2), random_input<T>({channels}, 3),
          random_input<T>({channels}, 4), random_input<T>({channels}, 5, 0.5, 2)};
}

TEST(BatchNormalization, AgreesWithTheDefinition) {
  for (const Shape& dims : {Shape{3, 4}, Shape{2, 3, 5}, Shape{2, 3, 2, 4}, Shape{5}}) {
    const int64_t channels = dims.size() == 1 ? 1 : dims[1];
    const size_t inner = dims.size() == 1 ? 1 : element_count(dims, 2, dims.size());
    const auto inputs = batch_inputs<double>(dims, channels);
    const SingleNode node("BatchNormalization", {float_attribute("epsilon", 0.25F)}, inputs);
    const auto y = values_of<double>(node);
    const auto in_float = values_of<float>(
        SingleNode("BatchNormalization", {float_attribute("epsilon", 0.25F)}, batch_inputs<float>(dims, channels)));
    for (size_t i = 0; i < y.size(); i++) {
      const size_t channel = i / inner % static_cast<size_t>(channels);
      const auto parameter = [&](size_t which) { return inputs[which].tensor->data<double>()[channel]; };
      const double expected =
          (inputs[0].tensor->data<double>()[i] - parameter(3)) / std::sqrt(parameter(4) + 0.25) * parameter(1) +
          parameter(2);
      EXPECT_NEAR(y[i], expected, 1e-14);
      EXPECT_NEAR(static_cast<double>(in_float[i]), expected, 1e-6);
    }
    expect_gradients(node);
    std::vector<NodeInput> fixed = inputs;
    for (size_t i = 1; i < 5; i++) fixed[i].constant = true;
    std::vector<NodeInput> reference = fixed;
    reference[0] = random_input<double>(dims, 9);
    expect_rescale_complete(SingleNode("BatchNormalization", {}, fixed), reference);
  }
}

TEST(BatchNormalization, EverySetOfWantedDerivatives) {
  const auto inputs = batch_inputs<double>({2, 3, 4}, 3);
  const SingleNode node("BatchNormalization", {}, inputs);
  SingleNode::Run run = node.forward();
  const Tensor weights = output_weights(run.outputs[0]);
  const void* out[] = {weights.raw()};
  const auto pulled = [&](unsigned wanted) {
    std::vector<std::vector<double>> gradients;
    std::vector<void*> in;
    for (size_t i = 0; i < 5; i++) gradients.emplace_back(inputs[i].tensor->count());
    for (size_t i = 0; i < 5; i++) in.push_back((wanted >> i & 1) != 0 ? gradients[i].data() : nullptr);
    node.kernel().backward(run.buffers(), {out, in});
    return gradients;
  };
  const auto all = pulled(31);
  for (unsigned wanted = 0; wanted < 32; wanted++) {
    const auto some = pulled(wanted);
    for (size_t i = 0; i < 5; i++) {
      EXPECT_EQ(some[i], (wanted >> i & 1) != 0 ? all[i] : std::vector<double>(some[i].size())) << wanted << " " << i;
    }
  }
}

TEST(BatchNormalization, FormsOfOpsets) {
  const auto inputs = batch_inputs<float>({2, 3}, 3);
  const auto refusal = [&](std::vector<OnnxAttribute> attributes, int64_t opset, size_t outputs = 1) {
    return sentence([&] { SingleNode("BatchNormalization", attributes, inputs, outputs, opset); });
  };
  const auto expected = values_of<float>(SingleNode("BatchNormalization", {}, inputs, 1, 15));
  for (const int64_t opset : {7, 9, 14, 23}) {
    EXPECT_EQ(values_of<float>(SingleNode("BatchNormalization", {int_attribute("spatial", 1)}, inputs, 1, opset)),
              expected);
  }
  EXPECT_THAT(refusal({int_attribute("training_mode", 1)}, 14), HasSubstr("training_mode must be 0, found 1"));
  EXPECT_THAT(refusal({}, 9, 5), HasSubstr("expected 1 output, found those of training"));
  EXPECT_THAT(refusal({int_attribute("spatial", 0)}, 7), HasSubstr("'spatial' must be 1"));
}

TEST(BatchNormalization, Refuses) {
  auto inputs = batch_inputs<float>({2, 3}, 3);
  inputs[3] = random_input<float>({2}, 1);
  EXPECT_THAT(sentence([&] { SingleNode("BatchNormalization", {}, inputs); }),
              HasSubstr("input 4 must have one number for each of 3 channels, found 2"));
  inputs[3] = random_input<double>({3}, 1);
  EXPECT_THAT(sentence([&] { SingleNode("BatchNormalization", {}, inputs); }),
              HasSubstr("input 4 must be FLOAT, found DOUBLE"));
  inputs.pop_back();
  EXPECT_THAT(sentence([&] { SingleNode("BatchNormalization", {}, inputs); }), HasSubstr("expected 5 inputs, found 4"));
  EXPECT_EQ(values_of<float>(SingleNode("BatchNormalization", {}, batch_inputs<float>({0, 3, 2}, 3))).size(), 0U);
}

TEST(LayerNormalization, AgreesWithTheDefinitionOnEveryAxis) {
  const Shape dims = {2, 3, 4};
  for (int64_t axis = -3; axis < 3; axis++) {
    const auto first = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    const Shape normalised(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
    const size_t length = element_count(normalised);
    const NodeInput x = random_input<double>(dims, 1), scale = random_input<double>(normalised, 2),
                    offset = random_input<double>(normalised, 3);
    const std::vector<OnnxAttribute> attributes = {int_attribute("axis", axis), float_attribute("epsilon", 0.125F),
                                                   int_attribute("stash_type", 11)};
    const SingleNode node("LayerNormalization", attributes, {x, scale, offset}, 3);
    Shape rows = dims;
    for (size_t i = first; i < 3; i++) rows[i] = 1;
    EXPECT_EQ(node.output_info(1)->dims, rows);
    EXPECT_EQ(node.output_info(2)->dims, rows);
    const auto y = values_of<double>(node), means = values_of<double>(node, 1), inverses = values_of<double>(node, 2);
    for (size_t row = 0; row * length < 24; row++) {
      const double* at = x.tensor->data<double>() + row * length;
      double mean = 0, variance = 0;
      for (size_t i = 0; i < length; i++) mean += at[i] / static_cast<double>(length);
      for (size_t i = 0; i < length; i++) variance += (at[i] - mean) * (at[i] - mean) / static_cast<double>(length);
      EXPECT_NEAR(means[row], mean, 1e-14);
      EXPECT_NEAR(inverses[row], 1 / std::sqrt(variance + 0.125), 1e-14);
      for (size_t i = 0; i < length; i++) {
        EXPECT_NEAR(y[row * length + i],
                    (at[i] - mean) / std::sqrt(variance + 0.125) * scale.tensor->data<double>()[i] +
                        offset.tensor->data<double>()[i],
                    1e-13);
      }
    }
    expect_gradients(node);
    // Complete for x alone, and where Scale and B depend on the data too.
    const std::vector<NodeInput> moved = {random_input<double>(dims, 4), random_input<double>(normalised, 5),
                                          random_input<double>(normalised, 6)};
    expect_rescale_complete(node, moved);
    expect_rescale_complete(node, {moved[0], scale, offset});
  }
}

TEST(LayerNormalization, Float32KeepsDigitsFarFromZero) {
  // Squares in float32 would leave nothing of the variance.
  const SingleNode node(
      "LayerNormalization", {float_attribute("epsilon", 0)},
      {variable<float>({1, 4}, {100001, 100002, 100003, 100004}), variable<float>({4}, {1, 1, 1, 1})});
  const auto y = values_of<float>(node);
  EXPECT_NEAR(y[0], -1.5 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(y[3], 1.5 / std::sqrt(1.25), 1e-6);
}

TEST(LayerNormalization, ScaleAndOffsetAreBroadcast) {
  const Shape dims = {2, 3, 2};
  const NodeInput x = random_input<double>(dims, 1);
  const auto expand = [](const NodeInput& small, size_t by_rows, size_t by_columns) {
    std::vector<double> values;
    for (size_t i = 0; i < 3; i++) {
      for (size_t j = 0; j < 2; j++) values.push_back(small.tensor->data<double>()[i * by_rows + j * by_columns]);
    }
    return variable<double>({3, 2}, values);
  };
  const OnnxAttribute axis = int_attribute("axis", 1);
  const NodeInput columns = random_input<double>({1, 1, 2}, 2), rows = random_input<double>({3, 1}, 3);
  const SingleNode node("LayerNormalization", {axis}, {x, columns, rows});
  EXPECT_EQ(values_of<double>(node), values_of<double>(SingleNode("LayerNormalization", {axis},
                                                                  {x, expand(columns, 0, 1), expand(rows, 1, 0)})));
  expect_gradients(node);
  // Broadcast along the middle of three.
  const NodeInput outer = random_input<double>({2, 1, 2}, 4);
  const double* of = outer.tensor->data<double>();
  const NodeInput full =
      variable<double>(dims, {of[0], of[1], of[0], of[1], of[0], of[1], of[2], of[3], of[2], of[3], of[2], of[3]});
  const SingleNode middle("LayerNormalization", {int_attribute("axis", 0)}, {x, outer});
  EXPECT_EQ(values_of<double>(middle),
            values_of<double>(SingleNode("LayerNormalization", {int_attribute("axis", 0)}, {x, full})));
  expect_gradients(middle);
  const NodeInput one = variable<double>({}, {1.5});
  const SingleNode scalar("LayerNormalization", {axis}, {x, one});
  EXPECT_EQ(values_of<double>(scalar),
            values_of<double>(SingleNode("LayerNormalization", {axis}, {x, expand(one, 0, 0)})));
  expect_gradients(scalar);
}

// The derivative of weighted outputs 2 and 3, by central differences.
TEST(LayerNormalization, DerivativesThroughMeanAndDeviation) {
  const NodeInput x = random_input<double>({2, 4}, 1), scale = constant<double>({4}, {1, 2, 3, 4});
  const SingleNode node("LayerNormalization", {int_attribute("stash_type", 11)}, {x, scale}, 3);
  const std::vector<double> by_mean = {1, -2}, by_inverse = {3, 0.5};
  const auto scalar = [&](const std::vector<NodeInput>& inputs) {
    const SingleNode::Run at = node.forward(inputs);
    double total = 0;
    for (size_t i = 0; i < 2; i++) {
      total += by_mean[i] * at.outputs[1].data<double>()[i] + by_inverse[i] * at.outputs[2].data<double>()[i];
    }
    return total;
  };
  SingleNode::Run run = node.forward();
  std::vector<double> found(8, 0);
  const void* out[] = {nullptr, by_mean.data(), by_inverse.data()};
  void* in[] = {found.data(), nullptr};
  node.kernel().backward(run.buffers(), {out, in});
  for (size_t i = 0; i < 8; i++) {
    const auto moved = [&](double by) {
      std::vector<double> values(x.tensor->data<double>(), x.tensor->data<double>() + 8);
      values[i] += by;
      return scalar({variable<double>({2, 4}, values), scale});
    };
    EXPECT_NEAR(found[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-6);
  }
}

TEST(LayerNormalization, StashTypesEmptyInputsAndRefusals) {
  const NodeInput x = random_input<double>({2, 4}, 1), scale = random_input<double>({4}, 2);
  EXPECT_EQ(SingleNode("LayerNormalization", {}, {x, scale}, 3).output_info(2)->type, OnnxElement::float32);
  EXPECT_EQ(SingleNode("LayerNormalization", {int_attribute("stash_type", 16)}, {x, scale}, 2).output_info(1)->type,
            OnnxElement::float32);
  const auto mean = values_of<float>(
      SingleNode("LayerNormalization", {}, {variable<double>({1, 2}, {1, 2}), variable<double>({2}, {1, 1})}, 3), 1);
  EXPECT_THAT(mean, ElementsAre(1.5F));
  const auto refusal = [&](std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs) {
    return sentence([&] { SingleNode("LayerNormalization", attributes, inputs); });
  };
  EXPECT_THAT(refusal({int_attribute("stash_type", 7)}, {x, scale}),
              HasSubstr("'stash_type' must be a type of floating numbers, found 7"));
  EXPECT_THAT(refusal({int_attribute("axis", 2)}, {x, scale}), HasSubstr("axis 2 is outside"));
  EXPECT_THAT(refusal({}, {x, random_input<double>({3}, 1)}),
              HasSubstr("input 2 must broadcast to the normalised dimensions 4, found 3"));
  EXPECT_THAT(refusal({}, {x, random_input<double>({2, 4}, 1)}), HasSubstr("input 2 must broadcast"));
  EXPECT_THAT(refusal({}, {x, scale, random_input<double>({2, 1}, 1)}), HasSubstr("input 3 must broadcast"));
  EXPECT_THAT(refusal({}, {x, random_input<float>({4}, 1)}), HasSubstr("input 2 must be DOUBLE, found FLOAT"));
  EXPECT_EQ(values_of<double>(SingleNode("LayerNormalization", {}, {variable<double>({0, 4}, {}), scale})).size(), 0U);
  EXPECT_TRUE(std::isnan(values_of<float>(
      SingleNode("LayerNormalization", {}, {variable<float>({1, 0}, {}), variable<float>({1}, {2})}, 2), 1)[0]));
}

TEST(Normalization, ARowHasTheSameBitsInEveryBatch) {
  const NodeInput x = random_input<float>({5, 3, 4}, 1), scale = random_input<float>({4}, 2);
  const std::vector<float> last(x.tensor->data<float>() + 48, x.tensor->data<float>() + 60);
  const NodeInput alone = variable<float>({1, 3, 4}, last);
  const auto tail = [](std::vector<float> values) { return std::vector<float>(values.end() - 12, values.end()); };
  EXPECT_EQ(tail(values_of<float>(SingleNode("LayerNormalization", {}, {x, scale}))),
            values_of<float>(SingleNode("LayerNormalization", {}, {alone, scale})));
  auto parameters = batch_inputs<float>({1, 3, 4}, 3);
  parameters[0] = x;
  const auto many = tail(values_of<float>(SingleNode("BatchNormalization", {}, parameters)));
  parameters[0] = alone;
  EXPECT_EQ(many, values_of<float>(SingleNode("BatchNormalization", {}, parameters)));
}

}  // namespace
}  // namespace assay

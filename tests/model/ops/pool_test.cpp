// MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool.
#include "assay/model/ops/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/vector_target.h"
#include "assay/model/ops/node_setup.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay {
namespace {

using namespace assay::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> values_of(const SingleNode& node, size_t output = 0) {
  const SingleNode::Run run = node.forward();
  const auto values = run.outputs[output].values<T>();
  return {values.begin(), values.end()};
}

struct Case {
  std::string name;
  Shape dims;
  std::vector<OnnxAttribute> attributes;
};

std::vector<Case> cases() {
  const auto ints = [](const char* name, std::vector<int64_t> values) {
    return ints_attribute(name, std::move(values));
  };
  const OnnxAttribute ceil = int_attribute("ceil_mode", 1);
  return {
      {"1-D", {2, 3, 9}, {ints("kernel_shape", {3}), ints("strides", {2}), ints("pads", {1, 2})}},
      {"two by two", {2, 2, 6, 8}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})}},
      {"two by two, odd", {1, 2, 5, 27}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})}},
      {"two by two, ceil", {1, 2, 5, 7}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2}), ceil}},
      {"overlapping", {2, 1, 7, 6}, {ints("kernel_shape", {3, 2})}},
      {"padded", {1, 2, 5, 4}, {ints("kernel_shape", {3, 3}), ints("strides", {2, 1}), ints("pads", {1, 2, 0, 1})}},
      {"dilated", {1, 2, 8, 9}, {ints("kernel_shape", {2, 3}), ints("dilations", {3, 2}), ints("pads", {1, 2, 1, 0})}},
      {"ceil", {1, 2, 6, 8}, {ints("kernel_shape", {3, 3}), ints("strides", {2, 3}), ints("pads", {1, 1, 1, 1}), ceil}},
      {"same upper",
       {1, 1, 5, 6},
       {ints("kernel_shape", {3, 2}), ints("strides", {2, 1}), text_attribute("auto_pad", "SAME_UPPER")}},
      {"same lower", {1, 1, 5, 6}, {ints("kernel_shape", {2, 4}), text_attribute("auto_pad", "SAME_LOWER")}},
      {"3-D",
       {2, 2, 4, 5, 3},
       {ints("kernel_shape", {2, 3, 2}), ints("strides", {2, 1, 1}), ints("pads", {0, 1, 1, 1, 0, 1})}},
      {"wide", {1, 2, 70}, {ints("kernel_shape", {66}), ints("pads", {40, 3})}},
  };
}

// A window as lists of positions in the plane, by definition; and how many of its positions lie in the padded input.
struct Positions {
  std::vector<size_t> inside;
  double padded = 0;
};
std::vector<Positions> windows_of(const Case& one) {
  OnnxNode node;
  node.attributes = one.attributes;
  const NodeSetup setup(node, 19, "", {}, size_t{1} << 28);
  const Window window = make_window(setup, Shape(one.dims.begin() + 2, one.dims.end()), setup.integers("kernel_shape"),
                                    setup.flag("ceil_mode", false));
  std::vector<Positions> all(element_count(window.output));
  for (size_t o = 0; o < all.size(); o++) {
    for (size_t k = 0; k < element_count(window.kernel); k++) {
      size_t rest_o = o, rest_k = k, position = 0, step = 1;
      bool inside = true, padded = true;
      for (size_t dim = window.rank(); dim-- > 0;) {
        const auto outputs = static_cast<size_t>(window.output[dim]), kernel = static_cast<size_t>(window.kernel[dim]);
        const int64_t at = window.start(dim, static_cast<int64_t>(rest_o % outputs)) +
                           static_cast<int64_t>(rest_k % kernel) * window.dilations[dim];
        inside = inside && at >= 0 && at < window.input[dim];
        padded = padded && at < window.input[dim] + window.pads_end[dim];
        position += static_cast<size_t>(at) * step;
        step *= static_cast<size_t>(window.input[dim]);
        rest_o /= outputs;
        rest_k /= kernel;
      }
      if (inside) all[o].inside.push_back(position);
      all[o].padded += padded ? 1 : 0;
    }
  }
  return all;
}

// Values in an order without sense, all apart from each other by more than finite differences reach.
template <class T>
NodeInput distinct_input(const Shape& dims, size_t seed) {
  std::vector<T> values(element_count(dims));
  for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<T>((i * 7919 + seed * 104729) % 10007) / T(1000);
  return variable<T>(dims, values);
}

TEST(MaxPool, AgreesWithTheDefinition) {
  for (const Case& one : cases()) {
    const NodeInput x = distinct_input<double>(one.dims, 1);
    const std::vector<Positions> windows = windows_of(one);
    const size_t plane = element_count(one.dims, 2, one.dims.size());
    std::vector<double> y;
    std::vector<int64_t> indices;
    for (size_t begin = 0; begin < x.tensor->count(); begin += plane) {
      for (const Positions& window : windows) {
        size_t best = begin + window.inside.at(0);
        for (const size_t at : window.inside)
          best = x.tensor->data<double>()[begin + at] > x.tensor->data<double>()[best] ? begin + at : best;
        y.push_back(x.tensor->data<double>()[best]);
        indices.push_back(static_cast<int64_t>(best));
      }
    }
    const SingleNode node("MaxPool", one.attributes, {x}, 2, 12);
    EXPECT_EQ(values_of<double>(node), y) << one.name;
    EXPECT_EQ(values_of<int64_t>(node, 1), indices) << one.name;
    // float32 takes other loops.
    const NodeInput single = distinct_input<float>(one.dims, 1);
    const SingleNode in_float("MaxPool", one.attributes, {single}, 2, 12);
    EXPECT_EQ(values_of<int64_t>(in_float, 1), indices) << one.name;
    const auto found = values_of<float>(in_float);
    for (size_t i = 0; i < y.size(); i++) {
      EXPECT_EQ(found[i], single.tensor->data<float>()[indices[i]]) << one.name << " " << i;
    }
    expect_gradients(SingleNode("MaxPool", one.attributes, {x}));
    expect_rescale_complete(SingleNode("MaxPool", one.attributes, {x}), {distinct_input<double>(one.dims, 2)});
  }
}

TEST(AveragePool, AgreesWithTheDefinition) {
  for (const Case& one : cases()) {
    for (const int64_t count_padding : {0, 1}) {
      std::vector<OnnxAttribute> attributes = one.attributes;
      attributes.push_back(int_attribute("count_include_pad", count_padding));
      const NodeInput x = random_input<double>(one.dims, 5);
      const SingleNode node("AveragePool", attributes, {x}, 1, 19);
      const auto found = values_of<double>(node);
      const auto in_float =
          values_of<float>(SingleNode("AveragePool", attributes, {random_input<float>(one.dims, 5)}, 1, 19));
      const std::vector<Positions> windows = windows_of(one);
      const size_t plane = element_count(one.dims, 2, one.dims.size());
      size_t i = 0;
      for (size_t begin = 0; begin < x.tensor->count(); begin += plane) {
        for (const Positions& window : windows) {
          double sum = 0;
          for (const size_t at : window.inside) sum += x.tensor->data<double>()[begin + at];
          const double expected =
              sum / (count_padding != 0 ? window.padded : static_cast<double>(window.inside.size()));
          EXPECT_NEAR(found.at(i), expected, 1e-14) << one.name;
          EXPECT_NEAR(static_cast<double>(in_float.at(i)), expected, 1e-6) << one.name;
          i++;
        }
      }
      EXPECT_EQ(found.size(), i);
      expect_gradients(node);
      expect_rescale_complete(node, {random_input<double>(one.dims, 6)});
    }
  }
}

TEST(AveragePool, WhatCeilModeAddsIsNotCounted) {
  const std::vector<OnnxAttribute> attributes = {ints_attribute("kernel_shape", {3}), ints_attribute("strides", {2}),
                                                 ints_attribute("pads", {1, 0}), int_attribute("ceil_mode", 1),
                                                 int_attribute("count_include_pad", 1)};
  // Windows: padding, 6, 9 / 9, 12 and beyond the padded input.
  EXPECT_THAT(values_of<double>(SingleNode("AveragePool", attributes, {variable<double>({1, 1, 3}, {6, 9, 12})})),
              ElementsAre(5, 10.5));
}

TEST(MaxPool, TakesTheSameWayOnEveryVectorTarget) {
  const Case one = cases()[2];
  const std::string before = vector_target();
  std::vector<std::vector<float>> seen;
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    const SingleNode node("MaxPool", one.attributes, {distinct_input<float>(one.dims, 1)}, 2);
    seen.push_back(values_of<float>(node));
    for (const int64_t at : values_of<int64_t>(node, 1)) seen.back().push_back(static_cast<float>(at));
  }
  pin_vector_target(before);
  for (const auto& each : seen) EXPECT_EQ(each, seen[0]);
}

TEST(MaxPool, FirstOfEqualsWins) {
  const std::vector<OnnxAttribute> squares = {ints_attribute("kernel_shape", {2, 2}),
                                              ints_attribute("strides", {2, 2})};
  const std::vector<OnnxAttribute> thirds = {ints_attribute("kernel_shape", {2, 3})};
  const std::vector<double> x = {1, 3, 0, 3, 3, 0};
  EXPECT_THAT(values_of<int64_t>(SingleNode("MaxPool", thirds, {variable<double>({1, 1, 2, 3}, x)}, 2), 1),
              ElementsAre(1));
  EXPECT_THAT(values_of<int64_t>(SingleNode("MaxPool", squares, {variable<float>({1, 1, 2, 2}, {0, 5, 5, 5})}, 2), 1),
              ElementsAre(1));
  // Nothing is larger than the least value, but the windows have elements.
  const std::vector<double> low(6, -kInfinity);
  EXPECT_THAT(
      values_of<int64_t>(
          SingleNode("MaxPool", {ints_attribute("kernel_shape", {1, 2})}, {variable<double>({1, 1, 2, 3}, low)}, 2), 1),
      ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(values_of<int64_t>(SingleNode("MaxPool", thirds, {variable<double>({1, 1, 2, 3}, low)}, 2), 1),
              ElementsAre(0));
}

TEST(MaxPool, NanWins) {
  for (size_t at = 0; at < 4; at++) {
    std::vector<float> x = {1, 4, 3, 2};
    x[at] = std::numeric_limits<float>::quiet_NaN();
    for (const int64_t padding : {0, 1}) {
      const SingleNode node("MaxPool",
                            {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2}),
                             ints_attribute("pads", {0, 0, padding, padding})},
                            {variable<float>({1, 1, 2, 2}, x)}, 2);
      EXPECT_TRUE(std::isnan(values_of<float>(node)[0]));
      EXPECT_EQ(values_of<int64_t>(node, 1)[0], static_cast<int64_t>(at));
    }
    std::vector<double> line = {kNaN, 1, 2, 7, 5};
    const SingleNode node("MaxPool", {ints_attribute("kernel_shape", {2})}, {variable<double>({1, 1, 5}, line)});
    const auto y = values_of<double>(node);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_THAT(std::vector<double>(y.begin() + 1, y.end()), ElementsAre(2, 7, 7));
  }
}

TEST(MaxPool, ColumnMajorIndices) {
  const std::vector<OnnxAttribute> attributes = {ints_attribute("kernel_shape", {2, 3, 4}),
                                                 int_attribute("storage_order", 1)};
  // Two planes of 2 x 3 x 4 with the largest at (1, 2, 0) and (0, 1, 3).
  std::vector<double> x(48, 0);
  x[1 * 12 + 2 * 4 + 0] = 1;
  x[24 + 0 * 12 + 1 * 4 + 3] = 1;
  EXPECT_THAT(values_of<int64_t>(SingleNode("MaxPool", attributes, {variable<double>({1, 2, 2, 3, 4}, x)}, 2), 1),
              ElementsAre(1 + 2 * 2 + 0, 24 + 0 + 1 * 2 + 3 * 6));
}

TEST(MaxPool, SmallIntegers) {
  const std::vector<OnnxAttribute> attributes = {ints_attribute("kernel_shape", {2}), ints_attribute("pads", {1, 0})};
  const SingleNode node("MaxPool", attributes, {variable<int8_t>({1, 1, 3}, {-128, -127, -128})});
  EXPECT_THAT(values_of<int8_t>(node), ElementsAre(-128, -127, -127));
  EXPECT_FALSE(node.kernel().differentiable(0));
  EXPECT_THAT(values_of<uint8_t>(SingleNode("MaxPool", attributes, {variable<uint8_t>({1, 1, 2}, {200, 100})})),
              ElementsAre(200, 200));
}

TEST(Pool, WindowsThatMissTheInput) {
  const std::vector<OnnxAttribute> around = {ints_attribute("kernel_shape", {2}), ints_attribute("pads", {1, 1}),
                                             ints_attribute("dilations", {2})};
  const NodeInput x = variable<double>({1, 1, 1}, {3});
  const SingleNode max("MaxPool", around, {x}, 2);
  EXPECT_THAT(values_of<double>(max), ElementsAre(-kInfinity));
  EXPECT_THAT(values_of<int64_t>(max, 1), ElementsAre(-1));
  SingleNode::Run run = max.forward();
  double dy = 1, dx = 0;
  const void* out[] = {&dy, nullptr};
  void* in[] = {&dx};
  max.kernel().backward(run.buffers(), {out, in});
  max.kernel().rescale(run.buffers(), run.buffers(), {out, in});
  EXPECT_EQ(dx, 0);
  EXPECT_TRUE(std::isnan(values_of<double>(SingleNode("AveragePool", around, {x}, 1, 19))[0]));
}

TEST(MaxPool, RescaleFollowsTheRule) {
  const SingleNode node("MaxPool", {ints_attribute("kernel_shape", {3})}, {variable<double>({1, 1, 3}, {1, 4, 2})});
  SingleNode::Run run = node.forward();
  const std::vector<NodeInput> reference = {variable<double>({1, 1, 3}, {3, 0, 2})};
  SingleNode::Run base = node.forward(reference);
  std::vector<double> found(3), weight = {2};
  const void* out[] = {weight.data()};
  void* in[] = {found.data()};
  node.kernel().rescale(run.buffers(), base.buffers(), {out, in});
  // 4 - 3 goes to element 1 over its difference of 4.
  EXPECT_THAT(found, ElementsAre(0, 0.5, 0));
  found.assign(3, 0);
  const std::vector<NodeInput> lower = {variable<double>({1, 1, 3}, {1, 2, 2.5})};
  SingleNode::Run low = node.forward(lower);
  node.kernel().rescale(low.buffers(), base.buffers(), {out, in});
  // 2.5 - 3 goes to element 0, which wins at the reference, over its difference of -2.
  EXPECT_THAT(found, ElementsAre(0.5, 0, 0));
}

TEST(GlobalPool, AgreesWithTheDefinition) {
  for (const Shape& dims : {Shape{2, 3, 5}, Shape{2, 3, 4, 5}, Shape{1, 2, 2, 3, 4}, Shape{3, 2}}) {
    const NodeInput x = distinct_input<double>(dims, 3);
    const SingleNode max("GlobalMaxPool", {}, {x});
    const SingleNode mean("GlobalAveragePool", {}, {x});
    Shape expected = dims;
    for (size_t i = 2; i < dims.size(); i++) expected[i] = 1;
    EXPECT_EQ(max.output_info(0)->dims, expected);
    EXPECT_EQ(mean.output_info(0)->dims, expected);
    const size_t plane = element_count(dims, 2, dims.size());
    const auto most = values_of<double>(max), means = values_of<double>(mean);
    for (size_t i = 0; i < most.size(); i++) {
      double largest = -kInfinity, sum = 0;
      for (size_t j = i * plane; j < (i + 1) * plane; j++) {
        largest = std::max(largest, x.tensor->data<double>()[j]);
        sum += x.tensor->data<double>()[j];
      }
      EXPECT_EQ(most[i], largest);
      EXPECT_NEAR(means[i], sum / static_cast<double>(plane), 1e-14);
    }
    expect_gradients(max);
    expect_gradients(mean);
    expect_rescale_complete(max, {distinct_input<double>(dims, 4)});
    expect_rescale_complete(mean, {distinct_input<double>(dims, 4)});
  }
}

TEST(GlobalPool, TiesNanAndEmptyPlanes) {
  std::vector<double> x(19, 1);
  x[9] = x[17] = 5;
  const SingleNode tied("GlobalMaxPool", {}, {variable<double>({1, 1, 19}, x)});
  SingleNode::Run run = tied.forward();
  std::vector<double> gradient(19), weight = {3}, expected(19);
  expected[9] = 3;
  const void* out[] = {weight.data()};
  void* in[] = {gradient.data()};
  tied.kernel().backward(run.buffers(), {out, in});
  EXPECT_EQ(gradient, expected);
  for (const size_t at : {0U, 10U, 18U}) {
    std::vector<double> with_nan = x;
    with_nan[at] = kNaN;
    EXPECT_TRUE(
        std::isnan(values_of<double>(SingleNode("GlobalMaxPool", {}, {variable<double>({1, 1, 19}, with_nan)}))[0]));
  }
  EXPECT_TRUE(std::isnan(values_of<float>(SingleNode("GlobalAveragePool", {}, {variable<float>({1, 1, 0}, {})}))[0]));
  EXPECT_THAT(sentence([] { SingleNode("GlobalMaxPool", {}, {variable<float>({1, 1, 0}, {})}); }),
              HasSubstr("the planes of its input of 1 x 1 x 0 are empty"));
  EXPECT_THAT(sentence([] { SingleNode("GlobalMaxPool", {}, {variable<int8_t>({1, 1, 1}, {1})}); }),
              HasSubstr("must be FLOAT or DOUBLE, found INT8"));
}

TEST(Pool, NoRows) {
  const OnnxAttribute kernel = ints_attribute("kernel_shape", {2, 2});
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const SingleNode node(op, {kernel}, {variable<float>({0, 3, 4, 4}, {})});
    EXPECT_EQ(node.output_info(0)->dims, (Shape{0, 3, 3, 3}));
    EXPECT_EQ(values_of<float>(node).size(), 0U);
  }
  EXPECT_EQ(values_of<float>(SingleNode("GlobalMaxPool", {}, {variable<float>({0, 3, 4, 4}, {})})).size(), 0U);
}

TEST(Pool, Refuses) {
  const NodeInput image = variable<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  const OnnxAttribute kernel = ints_attribute("kernel_shape", {2, 2});
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const auto refusal = [&](std::vector<OnnxAttribute> attributes, NodeInput x) {
      return sentence([&] { SingleNode(op, attributes, {x}); });
    };
    EXPECT_THAT(refusal({}, image), HasSubstr("attribute 'kernel_shape' is missing"));
    EXPECT_THAT(refusal({ints_attribute("kernel_shape", {2})}, image), HasSubstr("its window has 1 dimension"));
    EXPECT_THAT(refusal({ints_attribute("kernel_shape", {})}, variable<float>({1, 1}, {1})),
                HasSubstr("input 1 must have 3 to 5 dimensions, found 2"));
    EXPECT_THAT(refusal({kernel}, variable<int32_t>({1, 1, 2, 2}, {1, 2, 3, 4})), HasSubstr("found INT32"));
    // Outputs that no memory holds, by padding alone.
    const int64_t much = int64_t{1} << 39;
    EXPECT_THAT(refusal({kernel, ints_attribute("pads", {much, much, much, much})}, image),
                HasSubstr("bytes are allowed"));
    // A kernel of this size is no reason to loop: what is inside the input is small.
    EXPECT_EQ(
        refusal({ints_attribute("kernel_shape", {much, much}), ints_attribute("pads", {much, much, 0, 0})}, image),
        "no error");
  }
  EXPECT_THAT(sentence([&] { SingleNode("MaxPool", {kernel, int_attribute("storage_order", 2)}, {image}); }),
              HasSubstr("'storage_order' must be 0 or 1, found 2"));
}

TEST(Pool, HugeWindowsCostNoMoreThanTheInput) {
  const int64_t much = int64_t{1} << 39;
  const std::vector<OnnxAttribute> attributes = {ints_attribute("kernel_shape", {much, much}),
                                                 ints_attribute("pads", {much, much, 0, 0})};
  const NodeInput image = variable<float>({1, 1, 2, 2}, {1, 2, 3, 6});
  // The first window ends before the input, the last holds all of it.
  const SingleNode max("MaxPool", attributes, {image});
  EXPECT_THAT(values_of<float>(max), ElementsAre(-INFINITY, -INFINITY, -INFINITY, -INFINITY, 1, 2, -INFINITY, 3, 6));
  EXPECT_EQ(values_of<float>(SingleNode("AveragePool", attributes, {image})).back(), 3);
}

TEST(Pool, NullGradientsAreLeftAlone) {
  for (const char* op : {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}) {
    const SingleNode node(op, {ints_attribute("kernel_shape", {2})}, {random_input<float>({1, 2, 4}, 1)});
    SingleNode::Run run = node.forward();
    std::vector<float> dx(8, 1);
    const void* nothing[] = {nullptr};
    void* wanted[] = {dx.data()};
    void* unwanted[] = {nullptr};
    node.kernel().backward(run.buffers(), {nothing, wanted});
    node.kernel().rescale(run.buffers(), run.buffers(), {nothing, wanted});
    EXPECT_EQ(dx, std::vector<float>(8, 1));
    const void* given[] = {run.outputs[0].raw()};
    node.kernel().backward(run.buffers(), {given, unwanted});
  }
}

}  // namespace
}  // namespace assay

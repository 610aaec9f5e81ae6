// Slice, Concat, Split: parts of values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/movement_reference.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

// The positions a slice of one axis takes, by walking over it.
std::vector<int64_t> taken(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step < 0) start = std::min(start, size - 1);
  start = std::max<int64_t>(start, 0);
  if (step < 0) end = std::max<int64_t>(end, -1);
  std::vector<int64_t> positions;
  for (int64_t at = start; step > 0 ? at < std::min(end, size) : at > end && size > 0; at += step) {
    positions.push_back(at);
  }
  return positions;
}

TEST(Slice, TakesWhatWalkingTakes) {
  RandomStream random(1, "slice test");
  for (int trial = 0; trial < 500; trial++) {
    const Shape dims = random_shape(random, 1, 4, 6);
    std::vector<uint32_t> order(dims.size());
    random.permutation(order);
    order.resize(1 + random.below(static_cast<uint32_t>(dims.size())));
    std::vector<int64_t> starts, ends, axes, steps;
    std::vector<std::vector<int64_t>> positions(dims.size());
    Shape result = dims;
    for (size_t d = 0; d < dims.size(); d++) positions[d] = taken(dims[d], 0, dims[d], 1);
    for (const uint32_t axis : order) {
      starts.push_back(static_cast<int64_t>(random.below(20)) - 10);
      ends.push_back(static_cast<int64_t>(random.below(20)) - 10);
      steps.push_back(static_cast<int64_t>(1 + random.below(3)) * (random.below(2) == 0 ? 1 : -1));
      axes.push_back(random.below(2) == 0 ? axis : static_cast<int64_t>(axis) - static_cast<int64_t>(dims.size()));
      positions[axis] = taken(dims[axis], starts.back(), ends.back(), steps.back());
      result[axis] = static_cast<int64_t>(positions[axis].size());
    }
    const SingleNode node(
        "Slice", {}, {counting_input<float>(dims), integers(starts), integers(ends), integers(axes), integers(steps)});
    expect_moved<float>(node, result, [&](const Index& index) {
      Index source(index.size());
      for (size_t d = 0; d < dims.size(); d++) source[d] = positions[d][static_cast<size_t>(index[d])];
      return source;
    });
  }
}

TEST(Slice, HandExamples) {
  const NodeInput x = counting_input<std::string>({4});
  const auto all = counting<std::string>(4);
  const auto node = [&](int64_t start, int64_t end, int64_t step) {
    return SingleNode("Slice", {}, {x, integers({start}), integers({end}), left_out(), integers({step})});
  };
  expect_output<std::string>(node(3, INT64_MIN, -1), {4}, {all[3], all[2], all[1], all[0]});
  expect_output<std::string>(node(0, INT64_MAX, INT64_MAX), {1}, {all[0]});
  expect_output<std::string>(node(INT64_MAX, INT64_MIN, INT64_MIN), {1}, {all[3]});
  expect_output<std::string>(node(INT64_MIN, 2, 1), {2}, {all[0], all[1]});
  expect_output<std::string>(node(3, 1, 1), {0}, {});
  // Beside other dimensions, where strides times steps would not fit in 64 bits.
  expect_output<float>(SingleNode("Slice", {},
                                  {counting_input<float>({2, 3}), integers({1}), integers({INT64_MIN}), integers({0}),
                                   integers({INT64_MIN})}),
                       {1, 3}, {3, 4, 5});
  // ONNX clamps the start of a negative step to the first element, where Python would find nothing.
  expect_output<std::string>(node(-9, INT64_MIN, -1), {1}, {all[0]});
  expect_output<float>(
      SingleNode("Slice", {},
                 {counting_input<float>({0, 2}), integers({5}), integers({-5}), left_out(), integers({-2})}),
      {0, 2}, {});
}

TEST(Slice, TakesAttributesBeforeOpset10) {
  const NodeInput x = counting_input<float>({3, 4});
  expect_output<float>(SingleNode("Slice", {ints_attribute("starts", {1}), ints_attribute("ends", {-1})}, {x}, 1, 9),
                       {1, 4}, {4, 5, 6, 7});
  expect_output<float>(
      SingleNode("Slice",
                 {ints_attribute("axes", {1}), ints_attribute("starts", {-2}), ints_attribute("ends", {INT64_MAX})},
                 {x}, 1, 9),
      {3, 2}, {2, 3, 6, 7, 10, 11});
}

TEST(Slice, Differentiates) {
  const NodeInput x = random_input<double>({3, 4, 2}, 1);
  expect_gradients(
      SingleNode("Slice", {}, {x, integers({-1, 0}), integers({-9, 4}), integers({0, 1}), integers({-2, 3})}));
  EXPECT_FALSE(
      SingleNode("Slice", {}, {counting_input<int32_t>({3}), integers({0}), integers({2})}).kernel().differentiable(0));
}

TEST(Slice, Refuses) {
  const NodeInput x = counting_input<float>({3, 4});
  const auto refusal = [&](std::vector<int64_t> starts, std::vector<int64_t> ends, std::vector<int64_t> axes,
                           std::vector<int64_t> steps) {
    return sentence(
        [&] { SingleNode("Slice", {}, {x, integers(starts), integers(ends), integers(axes), integers(steps)}); });
  };
  EXPECT_THAT(refusal({0}, {1}, {0}, {0}), HasSubstr("the step along axis 0 must not be 0"));
  EXPECT_THAT(refusal({0, 0}, {1}, {0}, {1}), HasSubstr("of one length, found 2, 1, 1 and 1"));
  EXPECT_THAT(refusal({0, 0}, {1, 1}, {0, -2}, {1, 1}), HasSubstr("axis 0 is given twice"));
  EXPECT_THAT(refusal({0}, {1}, {2}, {1}), HasSubstr("axis 2 is outside"));
  EXPECT_THAT(sentence([&] { SingleNode("Slice", {}, {x, integers({0, 0, 0}), integers({1, 1, 1})}); }),
              HasSubstr("it slices 3 axes, but the input has 2 dimensions"));
  EXPECT_THAT(sentence([&] { SingleNode("Slice", {ints_attribute("starts", {0})}, {x}, 1, 9); }),
              HasSubstr("expected starts and ends"));
  EXPECT_THAT(sentence([&] { SingleNode("Slice", {}, {x, variable<int64_t>({1}, {0}), integers({1})}); }),
              HasSubstr("starts (input 2) depends on the data"));
}

template <class T>
void expect_concatenated(RandomStream& random, size_t parts) {
  Shape dims = random_shape(random, 1, 4);
  const size_t axis = random.below(static_cast<uint32_t>(dims.size()));
  std::vector<NodeInput> inputs;
  Shape result = dims;
  result[axis] = 0;
  for (size_t i = 0; i < parts; i++) {
    dims[axis] = random.below(4);
    result[axis] += dims[axis];
    std::vector<T> values = counting<T>(100 + element_count(dims));
    values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(10 * i));
    values.resize(element_count(dims));
    inputs.push_back(variable<T>(dims, values));
  }
  std::vector<T> expected;
  for_each_index(result, [&](Index index) {
    size_t part = 0;
    for (; index[axis] >= inputs[part].tensor->dims()[axis]; part++) index[axis] -= inputs[part].tensor->dims()[axis];
    expected.push_back(inputs[part].tensor->data<T>()[offset_of(inputs[part].tensor->dims(), index)]);
  });
  const int64_t given = static_cast<int64_t>(axis) - (parts % 2 == 0 ? 0 : static_cast<int64_t>(result.size()));
  expect_output<T>(SingleNode("Concat", {int_attribute("axis", given)}, inputs), result, expected);
}

TEST(Concat, PutsOneAfterTheOther) {
  RandomStream random(1, "concat test");
  for (size_t trial = 0; trial < 100; trial++) {
    expect_concatenated<float>(random, 1 + trial % 4);
    expect_concatenated<uint8_t>(random, 1 + trial % 4);
    expect_concatenated<std::string>(random, 1 + trial % 4);
  }
  expect_gradients(SingleNode(
      "Concat", {int_attribute("axis", 1)},
      {random_input<double>({2, 3, 2}, 1), random_input<double>({2, 1, 2}, 2), random_input<double>({2, 2, 2}, 3)}));
}

TEST(Concat, Refuses) {
  const NodeInput x = counting_input<float>({2, 3});
  const auto refusal = [&](const NodeInput& other, int64_t axis) {
    return sentence([&] { SingleNode("Concat", {int_attribute("axis", axis)}, {x, other}); });
  };
  EXPECT_THAT(refusal(counting_input<float>({2, 4}), 0),
              HasSubstr("input 2 (2 x 4) and input 1 (2 x 3) may differ along axis 0 only"));
  EXPECT_THAT(refusal(counting_input<float>({2}), 1), HasSubstr("may differ along axis 1 only"));
  EXPECT_THAT(refusal(counting_input<double>({2, 3}), 1), HasSubstr("input 2 must be FLOAT, found DOUBLE"));
  EXPECT_THAT(refusal(x, 2), HasSubstr("axis 2 is outside"));
  EXPECT_THAT(sentence([&] { SingleNode("Concat", {}, {x, x}); }), HasSubstr("expected the attribute 'axis'"));
  EXPECT_THAT(sentence([&] { SingleNode("Concat", {int_attribute("axis", 0)}, {counting_input<float>({})}); }),
              HasSubstr("outside the 0 dimensions"));
}

template <class T>
void expect_split(const SingleNode& node, size_t axis, const std::vector<int64_t>& sizes) {
  const Tensor& input = *node.inputs()[0].tensor;
  int64_t before = 0;
  for (size_t part = 0; part < sizes.size(); part++) {
    Shape dims = input.dims();
    dims[axis] = sizes[part];
    std::vector<T> expected;
    for_each_index(dims, [&](Index index) {
      index[axis] += before;
      expected.push_back(input.data<T>()[offset_of(input.dims(), index)]);
    });
    expect_output<T>(node, dims, expected, part);
    before += sizes[part];
  }
}

TEST(Split, UndoesConcat) {
  RandomStream random(1, "split test");
  for (int trial = 0; trial < 100; trial++) {
    Shape dims = random_shape(random, 1, 4);
    const size_t axis = random.below(static_cast<uint32_t>(dims.size()));
    std::vector<int64_t> sizes(1 + random.below(4));
    dims[axis] = 0;
    for (int64_t& size : sizes) dims[axis] += size = random.below(4);
    const OnnxAttribute at = int_attribute("axis", static_cast<int64_t>(axis));
    expect_split<float>(SingleNode("Split", {at}, {counting_input<float>(dims), integers(sizes)}, sizes.size()), axis,
                        sizes);
    expect_split<std::string>(SingleNode("Split", {at, ints_attribute("split", sizes)},
                                         {counting_input<std::string>(dims)}, sizes.size(), 12),
                              axis, sizes);
  }
}

TEST(Split, EqualPartsAndASmallerLastOne) {
  const OnnxAttribute last = int_attribute("axis", -1);
  const NodeInput x = counting_input<float>({2, 7});
  expect_split<float>(SingleNode("Split", {}, {x}, 2, 11), 0, {1, 1});
  expect_split<float>(SingleNode("Split", {}, {x}, 2, 13), 0, {1, 1});
  expect_split<float>(SingleNode("Split", {last, int_attribute("num_outputs", 3)}, {x}, 3, 18), 1, {3, 3, 1});
  expect_split<float>(SingleNode("Split", {last, int_attribute("num_outputs", 7)}, {x}, 7, 18), 1,
                      {1, 1, 1, 1, 1, 1, 1});
  expect_split<float>(SingleNode("Split", {last}, {x}, 1, 17), 1, {7});
}

TEST(Split, DerivativesOfEveryPartAddUp) {
  const SingleNode node("Split", {int_attribute("axis", 1)}, {counting_input<double>({2, 3}), integers({1, 2})}, 2);
  SingleNode::Run run = node.forward();
  const std::vector<double> first = {1, 2};
  const std::vector<double> second = {3, 4, 5, 6};
  std::vector<double> gradient(6, 10);
  void* in[] = {gradient.data(), nullptr};
  const void* both[] = {first.data(), second.data()};
  node.kernel().backward(run.buffers(), {both, in});
  EXPECT_EQ(gradient, (std::vector<double>{11, 13, 14, 12, 15, 16}));
  const void* one[] = {nullptr, second.data()};
  node.kernel().backward(run.buffers(), {one, in});
  EXPECT_EQ(gradient, (std::vector<double>{11, 16, 18, 12, 20, 22}));
  expect_gradients(SingleNode("Split", {}, {random_input<double>({4, 3}, 1), integers({1, 3})}, 2));
}

TEST(Split, LeavesOutWhatNobodyWants) {
  OnnxNode node;
  node.op_type = "Split";
  node.outputs = {"", "second"};
  const ValueInfo info = {OnnxElement::float32, {4}, nullptr};
  NodeSetup setup(node, 17, "test", {&info}, 1 << 20);
  const auto kernel = find_operator("", "Split")->make(setup);
  EXPECT_FALSE(setup.outputs()[0].has_value());
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(2);
  const void* in[] = {x.data()};
  void* out[] = {nullptr, y.data()};
  kernel->forward({in, out});
  EXPECT_EQ(y, (std::vector<float>{3, 4}));
}

TEST(Split, Refuses) {
  const NodeInput x = counting_input<float>({5});
  const auto sizes = [&](const std::vector<int64_t>& split) {
    return sentence([&] { SingleNode("Split", {}, {x, integers(split)}, 2); });
  };
  EXPECT_THAT(sizes({2, 2}), HasSubstr("the sizes of split must add up to 5, found 4"));
  EXPECT_THAT(sizes({2, 4}), HasSubstr("must add up to 5; 4 does not fit"));
  EXPECT_THAT(sizes({INT64_MAX, INT64_MAX}), HasSubstr("does not fit"));
  EXPECT_THAT(sizes({-1, 6}), HasSubstr("-1 does not fit"));
  EXPECT_THAT(sizes({5}), HasSubstr("2 sizes, one for each output, found 1"));
  const auto equal = [&](std::vector<OnnxAttribute> attributes, size_t outputs, int64_t opset) {
    return sentence([&] { SingleNode("Split", std::move(attributes), {x}, outputs, opset); });
  };
  EXPECT_THAT(equal({}, 2, 17), HasSubstr("a dimension of 5 cannot be split into 2 equal parts"));
  EXPECT_THAT(equal({}, 4, 18), HasSubstr("5 cannot be split into 4 parts of which only the last is smaller"));
  EXPECT_THAT(equal({int_attribute("num_outputs", 3)}, 2, 18), HasSubstr("num_outputs is 3, but it has 2 outputs"));
  EXPECT_THAT(equal({int_attribute("axis", 1)}, 1, 18), HasSubstr("axis 1 is outside"));
  EXPECT_THAT(equal({}, 0, 18), HasSubstr("expected 1 or more outputs"));
}

}  // namespace
}  // namespace assay::testing

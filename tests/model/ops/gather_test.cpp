// Gather, and what makes values from nothing: Shape, Constant, ConstantOfShape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/movement_reference.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

template <class T, class Position>
void expect_gathered(RandomStream& random) {
  const Shape dims = random_shape(random, 1, 4);
  const Shape index_dims = random_shape(random, 0, 2);
  const size_t axis = random.below(static_cast<uint32_t>(dims.size()));
  std::vector<Position> indices(element_count(index_dims));
  for (Position& index : indices) {
    index = static_cast<Position>(random.below(static_cast<uint32_t>(2 * dims[axis])));
    index = static_cast<Position>(index - dims[axis]);
  }
  Shape result(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(axis));
  result.insert(result.end(), index_dims.begin(), index_dims.end());
  result.insert(result.end(), dims.begin() + static_cast<ptrdiff_t>(axis) + 1, dims.end());
  const bool known = random.below(2) == 0;
  const SingleNode node("Gather", {int_attribute("axis", static_cast<int64_t>(axis))},
                        {counting_input<T>(dims),
                         known ? constant<Position>(index_dims, indices) : variable<Position>(index_dims, indices)});
  expect_moved<T>(node, result, [&](const Index& index) {
    const auto from = index.begin() + static_cast<ptrdiff_t>(axis);
    const auto to = from + static_cast<ptrdiff_t>(index_dims.size());
    int64_t position = indices[offset_of(index_dims, Index(from, to))];
    if (position < 0) position += dims[axis];
    Index source(index.begin(), from);
    source.push_back(position);
    source.insert(source.end(), to, index.end());
    return source;
  });
}

TEST(Gather, TakesAnyIndex) {
  RandomStream random(1, "gather test");
  for (int trial = 0; trial < 100; trial++) {
    expect_gathered<float, int64_t>(random);
    expect_gathered<uint16_t, int32_t>(random);
    expect_gathered<std::string, int64_t>(random);
  }
}

TEST(Gather, DerivativesAddUpWhereAnElementIsTakenTwice) {
  const NodeInput indices = variable<int64_t>({4}, {2, -1, 0, 2});
  const OnnxAttribute axis = int_attribute("axis", 1);
  expect_gradients(SingleNode("Gather", {axis}, {random_input<double>({2, 3, 2}, 1), indices}));
  expect_gradients(SingleNode("Gather", {axis}, {random_input<double>({2, 3}, 1), indices}));
  const SingleNode node("Gather", {}, {counting_input<float>({3}), indices});
  EXPECT_FALSE(node.kernel().differentiable(1));
  SingleNode::Run run = node.forward();
  const std::vector<float> dy = {1, 2, 4, 8};
  std::vector<float> dx = {100, 100, 100};
  const void* out[] = {dy.data()};
  void* in[] = {dx.data(), nullptr};
  node.kernel().backward(run.buffers(), {out, in});
  EXPECT_EQ(dx, (std::vector<float>{104, 100, 111}));
}

TEST(Gather, RefusesIndicesOutside) {
  const NodeInput x = counting_input<float>({3, 2});
  for (const int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(sentence([&] { SingleNode("Gather", {}, {x, integers({0, bad})}); }),
              "test: node 1 (Gather): index " + std::to_string(bad) + " is outside an axis of 3 elements");
    const SingleNode node("Gather", {}, {x, variable<int64_t>({1}, {bad})});
    EXPECT_THAT(sentence([&] { node.forward(); }), HasSubstr("(Gather): index " + std::to_string(bad)));
  }
  EXPECT_THAT(sentence([&] { SingleNode("Gather", {}, {counting_input<float>({0, 2}), integers({0})}); }),
              HasSubstr("outside an axis of 0 elements"));
  EXPECT_THAT(sentence([&] { SingleNode("Gather", {}, {x, counting_input<float>({1})}); }),
              HasSubstr("its indices must be INT32 or INT64, found FLOAT"));
  EXPECT_THAT(sentence([&] { SingleNode("Gather", {int_attribute("axis", 2)}, {x, integers({0})}); }),
              HasSubstr("axis 2 is outside"));
  EXPECT_THAT(sentence([&] { SingleNode("Gather", {}, {x, constant<int64_t>(Shape(64, 1), {0})}); }),
              HasSubstr("65 dimensions; at most 64"));
}

TEST(Gather, EmptyValues) {
  const NodeInput none = variable<int64_t>({0}, {});
  expect_output<float>(SingleNode("Gather", {}, {counting_input<float>({3, 2}), none}), {0, 2}, {});
  expect_output<float>(SingleNode("Gather", {}, {counting_input<float>({0, 2}), none}), {0, 2}, {});
  expect_output<float>(SingleNode("Gather", {}, {counting_input<float>({3, 0}), integers({1})}), {1, 0}, {});
}

TEST(Shape, GivesDimensions) {
  const NodeInput x = counting_input<float>({3, 4, 0, 5});
  const auto shape = [&](std::vector<OnnxAttribute> attributes, int64_t opset = 15) {
    const SingleNode node("Shape", std::move(attributes), {x}, 1, opset);
    const SingleNode::Run run = node.forward();
    const auto values = run.outputs[0].values<int64_t>();
    EXPECT_EQ(node.output_info(0)->dims, Shape{static_cast<int64_t>(values.size())});
    EXPECT_FALSE(node.kernel().differentiable(0));
    return std::vector<int64_t>(values.begin(), values.end());
  };
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(shape({}), (Dims{3, 4, 0, 5}));
  EXPECT_EQ(shape({int_attribute("start", 1)}), (Dims{4, 0, 5}));
  EXPECT_EQ(shape({int_attribute("start", 1)}, 13), (Dims{3, 4, 0, 5}));
  EXPECT_EQ(shape({int_attribute("start", -3), int_attribute("end", -1)}), (Dims{4, 0}));
  EXPECT_EQ(shape({int_attribute("start", 2), int_attribute("end", 1)}), Dims{});
  EXPECT_EQ(shape({int_attribute("start", INT64_MIN), int_attribute("end", INT64_MAX)}), (Dims{3, 4, 0, 5}));
  expect_output<int64_t>(SingleNode("Shape", {}, {counting_input<std::string>({})}), {0}, {});
}

OnnxAttribute tensor_attribute(OnnxTensor tensor) {
  OnnxAttribute attribute;
  attribute.name = "value";
  attribute.kind = OnnxAttributeKind::one_tensor;
  attribute.tensors = {std::move(tensor)};
  return attribute;
}

TEST(Constant, HoldsEveryKindOfAttribute) {
  const auto made = [](OnnxAttribute attribute) { return SingleNode("Constant", {std::move(attribute)}, {}); };
  const std::vector<float> values = {1, 2, 3, 4};
  expect_output<float>(made(tensor_attribute(onnx_tensor("t", {2, 2}, std::span<const float>(values)))), {2, 2},
                       values);
  expect_output<float>(made(float_attribute("value_float", 2.5F)), {}, {2.5F});
  expect_output<float>(made(floats_attribute("value_floats", {1, 2})), {2}, {1, 2});
  expect_output<int64_t>(made(int_attribute("value_int", -7)), {}, {-7});
  expect_output<int64_t>(made(ints_attribute("value_ints", {})), {0}, {});
  expect_output<std::string>(made(text_attribute("value_string", "word")), {}, {"word"});
  expect_output<std::string>(made(texts_attribute("value_strings", {"a", "b"})), {2}, {"a", "b"});
}

TEST(Constant, Refuses) {
  const auto refusal = [](std::vector<OnnxAttribute> attributes) {
    return sentence([&] { SingleNode("Constant", std::move(attributes), {}); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("expected one attribute that holds the value, found 0"));
  EXPECT_THAT(refusal({int_attribute("value_int", 1), int_attribute("value_int", 1)}), HasSubstr("found 2"));
  EXPECT_THAT(refusal({int_attribute("axis", 1)}), HasSubstr("found 'axis'"));
  EXPECT_THAT(refusal({int_attribute("value", 1)}), HasSubstr("attribute 'value' must be TENSOR"));
  OnnxAttribute sparse;
  sparse.name = "sparse_value";
  sparse.kind = OnnxAttributeKind::sparse_tensor;
  EXPECT_THAT(refusal({sparse}), HasSubstr("sparse tensor"));
  OnnxTensor complex;
  complex.name = "c";
  complex.type = OnnxElement::complex64;
  complex.dims = {0};
  EXPECT_THAT(refusal({tensor_attribute(complex)}), HasSubstr("tensor 'c' is of type COMPLEX64"));
}

TEST(ConstantOfShape, RepeatsOneNumber) {
  const std::vector<int64_t> seven = {7};
  const OnnxAttribute value = tensor_attribute(onnx_tensor("t", {1}, std::span<const int64_t>(seven)));
  expect_output<int64_t>(SingleNode("ConstantOfShape", {value}, {integers({2, 2})}), {2, 2}, {7, 7, 7, 7});
  expect_output<float>(SingleNode("ConstantOfShape", {}, {integers({3})}), {3}, {0, 0, 0});
  expect_output<float>(SingleNode("ConstantOfShape", {}, {integers({})}), {}, {0});
  expect_output<float>(SingleNode("ConstantOfShape", {}, {integers({0, 3})}), {0, 3}, {});
  const std::vector<int64_t> two = {7, 8};
  const OnnxAttribute pair = tensor_attribute(onnx_tensor("t", {2}, std::span<const int64_t>(two)));
  const auto refusal = [](std::vector<OnnxAttribute> attributes, const NodeInput& shape) {
    return sentence([&] { SingleNode("ConstantOfShape", std::move(attributes), {shape}); });
  };
  EXPECT_THAT(refusal({pair}, integers({2})), HasSubstr("its value must be one element, found 2"));
  EXPECT_THAT(refusal({}, integers({INT64_MAX, INT64_MAX})), HasSubstr("are allowed"));
  EXPECT_THAT(refusal({}, integers({-1})), HasSubstr("its output would have the dimensions -1"));
  EXPECT_THAT(refusal({}, variable<int64_t>({1}, {2})), HasSubstr("shape (input 1) depends on the data"));
  EXPECT_THAT(refusal({}, integers(std::vector<int64_t>(65, 1))), HasSubstr("at most 64"));
}

}  // namespace
}  // namespace assay::testing

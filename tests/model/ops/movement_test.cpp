// Identity, Dropout, Flatten, Reshape, Squeeze, Unsqueeze, Transpose, Expand.
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

template <class T>
void expect_copied(const std::string& op, std::vector<OnnxAttribute> attributes, const Shape& dims, const Shape& result,
                   std::vector<NodeInput> more = {}, int64_t opset = 17) {
  std::vector<NodeInput> inputs = {counting_input<T>(dims)};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const SingleNode node(op, std::move(attributes), std::move(inputs), 1, opset);
  expect_output<T>(node, result, counting<T>(element_count(dims)));
}

std::string reshape_refusal(const Shape& dims, const std::vector<int64_t>& shape) {
  return sentence([&] { SingleNode("Reshape", {}, {counting_input<float>(dims), integers(shape)}); });
}

TEST(Identity, CopiesEveryType) {
  expect_copied<float>("Identity", {}, {2, 3}, {2, 3});
  expect_copied<double>("Identity", {}, {}, {});
  expect_copied<int8_t>("Identity", {}, {5}, {5});
  expect_copied<uint64_t>("Identity", {}, {5}, {5});
  expect_copied<std::string>("Identity", {}, {2, 2}, {2, 2});
  expect_copied<float>("Identity", {}, {0, 3}, {0, 3});
  expect_output<bool>(SingleNode("Identity", {}, {variable<bool>({2}, {true, false})}), {2}, {true, false});
  expect_gradients(SingleNode("Identity", {}, {random_input<double>({2, 3}, 1)}));
}

TEST(Identity, DerivativesAreForFloatsOnly) {
  EXPECT_TRUE(SingleNode("Identity", {}, {counting_input<float>({2})}).kernel().differentiable(0));
  EXPECT_FALSE(SingleNode("Identity", {}, {counting_input<int64_t>({2})}).kernel().differentiable(0));
  EXPECT_FALSE(SingleNode("Identity", {}, {counting_input<std::string>({2})}).kernel().differentiable(0));
}

TEST(Identity, ToleratesDerivativesNobodyWants) {
  const SingleNode node("Identity", {}, {counting_input<float>({2})});
  SingleNode::Run run = node.forward();
  const void* out[] = {nullptr};
  void* in[] = {nullptr};
  node.kernel().backward(run.buffers(), {out, in});
  std::vector<float> gradient = {1, 2};
  void* wanted[] = {gradient.data()};
  node.kernel().backward(run.buffers(), {out, wanted});
  EXPECT_EQ(gradient, (std::vector<float>{1, 2}));
}

TEST(Dropout, IsTheIdentityWithAMaskOfOnes) {
  const NodeInput x = counting_input<float>({2, 2});
  for (const int64_t opset : {7, 10, 12, 13, 22}) {
    const SingleNode node("Dropout", {}, {x}, 2, opset);
    expect_output<float>(node, {2, 2}, {0, 1, 2, 3});
    if (opset < 10)
      expect_output<float>(node, {2, 2}, {1, 1, 1, 1}, 1);
    else
      expect_output<bool>(node, {2, 2}, {true, true, true, true}, 1);
  }
  expect_output<float>(SingleNode("Dropout", {float_attribute("ratio", 0.9F)}, {x}, 1, 7), {2, 2}, {0, 1, 2, 3});
  expect_gradients(SingleNode("Dropout", {}, {random_input<double>({2, 3}, 1)}, 2));
}

TEST(Dropout, TrainsOnlyWithoutDropping) {
  const NodeInput x = counting_input<float>({2});
  const NodeInput yes = constant<bool>({}, {true});
  const NodeInput no = constant<bool>({}, {false});
  const auto node = [&](const NodeInput& ratio, const NodeInput& training) {
    return SingleNode("Dropout", {int_attribute("seed", 3)}, {x, ratio, training}, 2);
  };
  expect_output<float>(node(constant<float>({}, {0.75F}), no), {2}, {0, 1});
  expect_output<float>(node(variable<float>({}, {0.75F}), no), {2}, {0, 1});
  expect_output<float>(node(constant<float>({}, {0}), yes), {2}, {0, 1});
  expect_output<float>(node(constant<double>({}, {0}), yes), {2}, {0, 1});
  EXPECT_THAT(sentence([&] { node(constant<float>({}, {0.75F}), yes); }), HasSubstr("training_mode is true"));
  EXPECT_THAT(sentence([&] { node(left_out(), yes); }), HasSubstr("training_mode is true"));
  EXPECT_THAT(sentence([&] { node(left_out(), variable<bool>({}, {false})); }), HasSubstr("depends on the data"));
  EXPECT_THAT(sentence([&] { node(left_out(), constant<bool>({0}, {})); }), HasSubstr("one value, found 0"));
  EXPECT_THAT(sentence([&] { node(constant<float>({2}, {0, 0}), yes); }), HasSubstr("ratio must be one value"));
  EXPECT_THAT(sentence([&] { SingleNode("Dropout", {}, {counting_input<int32_t>({2})}); }), HasSubstr("found INT32"));
}

TEST(Flatten, CutsAtTheAxis) {
  const Shape dims = {2, 3, 4};
  expect_copied<float>("Flatten", {}, dims, {2, 12});
  expect_copied<float>("Flatten", {int_attribute("axis", 0)}, dims, {1, 24});
  expect_copied<std::string>("Flatten", {int_attribute("axis", 2)}, dims, {6, 4});
  expect_copied<float>("Flatten", {int_attribute("axis", 3)}, dims, {24, 1});
  expect_copied<float>("Flatten", {int_attribute("axis", -1)}, dims, {6, 4});
  expect_copied<float>("Flatten", {int_attribute("axis", -3)}, dims, {1, 24});
  expect_copied<float>("Flatten", {int_attribute("axis", 0)}, {}, {1, 1});
  expect_copied<float>("Flatten", {}, {0, 3, 2}, {0, 6});
  expect_gradients(SingleNode("Flatten", {}, {random_input<double>({2, 3, 2}, 1)}));
  for (const int64_t axis : {int64_t{4}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(
        sentence([&] { SingleNode("Flatten", {int_attribute("axis", axis)}, {counting_input<float>({2, 3, 4})}); }),
        HasSubstr("is outside the 3 dimensions"));
  }
}

TEST(Reshape, FollowsItsShape) {
  const Shape dims = {2, 3, 4};
  expect_copied<float>("Reshape", {}, dims, {4, 6}, {integers({4, 6})});
  expect_copied<float>("Reshape", {}, dims, {2, 12}, {integers({0, -1})}, 7);
  expect_copied<float>("Reshape", {}, dims, {8, 3}, {integers({-1, 3})});
  expect_copied<std::string>("Reshape", {}, dims, {2, 3, 2, 2}, {integers({0, 0, 2, -1})});
  expect_copied<float>("Reshape", {}, {1, 1}, {}, {integers({})});
  expect_copied<float>("Reshape", {}, {0, 3, 2}, {0, 6}, {integers({0, -1})});
  expect_copied<float>("Reshape", {}, {0, 3}, {0, 5}, {integers({0, 5})});
  expect_copied<float>("Reshape", {}, {3, 0}, {0, 7}, {integers({-1, 7})});
  expect_copied<float>("Reshape", {int_attribute("allowzero", 1)}, {0, 3}, {3, 0}, {integers({3, 0})});
  expect_copied<float>("Reshape", {int_attribute("allowzero", 1)}, {3, 2}, {3, 2}, {integers({3, 0})}, 13);
  expect_gradients(SingleNode("Reshape", {}, {random_input<double>({2, 3}, 1), integers({3, 2})}));
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  EXPECT_EQ(reshape_refusal({2, 3}, {4, 2}), "test: node 1 (Reshape): dimensions 2 x 3 cannot be reshaped to 4 x 2");
  EXPECT_THAT(reshape_refusal({2, 3}, {4, -1}), HasSubstr("2 x 3 cannot be reshaped to 4 x -1"));
  EXPECT_THAT(reshape_refusal({2, 3}, {-1, -1}), HasSubstr("more than one -1"));
  EXPECT_THAT(reshape_refusal({2, 3}, {-2, 3}), HasSubstr("has the dimension -2"));
  EXPECT_THAT(reshape_refusal({2, 3}, {2, 3, 0}), HasSubstr("keeps dimension 3 of the input, which has 2"));
  EXPECT_THAT(reshape_refusal({2, 3}, {INT64_MAX, INT64_MAX}), HasSubstr("cannot be reshaped"));
  EXPECT_THAT(reshape_refusal({2, 3}, {INT64_MAX, -1, INT64_MAX}), HasSubstr("cannot be reshaped"));
  EXPECT_THAT(reshape_refusal({0, 3}, {0, INT64_MAX}), HasSubstr("are allowed"));
  EXPECT_THAT(reshape_refusal({1}, std::vector<int64_t>(65, 1)), HasSubstr("65 dimensions; at most 64"));
  EXPECT_THAT(sentence([] { SingleNode("Reshape", {}, {counting_input<float>({2}), variable<int64_t>({1}, {2})}); }),
              HasSubstr("shape (input 2) depends on the data"));
  const OnnxAttribute allow = int_attribute("allowzero", 1);
  EXPECT_THAT(sentence([&] { SingleNode("Reshape", {allow}, {counting_input<float>({2}), integers({0, -1})}); }),
              HasSubstr("cannot be reshaped"));
}

TEST(Squeeze, DropsDimensionsOfOne) {
  const Shape dims = {1, 3, 1, 2, 1};
  expect_copied<float>("Squeeze", {}, dims, {3, 2});
  expect_copied<float>("Squeeze", {}, dims, {3, 2}, {}, 11);
  expect_copied<float>("Squeeze", {}, dims, {1, 3, 2, 1}, {integers({2})});
  expect_copied<std::string>("Squeeze", {}, dims, {3, 1, 2}, {integers({-1, 0})});
  expect_copied<float>("Squeeze", {}, dims, dims, {integers({})});
  expect_copied<float>("Squeeze", {ints_attribute("axes", {0, 4})}, dims, {3, 1, 2}, {}, 12);
  expect_copied<float>("Squeeze", {}, {1, 0}, {0});
  expect_gradients(SingleNode("Squeeze", {}, {random_input<double>({1, 3, 1}, 1)}));
  const auto refusal = [](const std::vector<int64_t>& axes) {
    return sentence([&] { SingleNode("Squeeze", {}, {counting_input<float>({1, 3}), integers(axes)}); });
  };
  EXPECT_THAT(refusal({1}), HasSubstr("axis 1 must be of size 1, found 3"));
  EXPECT_THAT(refusal({0, -2}), HasSubstr("axis 0 is given twice"));
  EXPECT_THAT(refusal({2}), HasSubstr("axis 2 is outside"));
}

TEST(Unsqueeze, AddsDimensionsOfOne) {
  expect_copied<float>("Unsqueeze", {}, {3, 2}, {1, 3, 2}, {integers({0})});
  expect_copied<float>("Unsqueeze", {}, {3, 2}, {3, 2, 1}, {integers({-1})});
  expect_copied<std::string>("Unsqueeze", {}, {3, 2}, {3, 1, 1, 2, 1}, {integers({4, 1, -3})});
  expect_copied<float>("Unsqueeze", {}, {}, {1}, {integers({0})});
  expect_copied<float>("Unsqueeze", {ints_attribute("axes", {0, 2})}, {3, 2}, {1, 3, 1, 2}, {}, 12);
  expect_gradients(SingleNode("Unsqueeze", {}, {random_input<double>({3, 2}, 1), integers({1})}));
  const auto refusal = [](const std::vector<NodeInput>& more) {
    std::vector<NodeInput> inputs = {counting_input<float>({3})};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return sentence([&] { SingleNode("Unsqueeze", {}, inputs); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("expected axes, found none"));
  EXPECT_THAT(refusal({integers({0, 0})}), HasSubstr("axis 0 is given twice"));
  EXPECT_THAT(refusal({integers({2})}), HasSubstr("axis 2 is outside the 2 dimensions"));
  EXPECT_THAT(refusal({integers(std::vector<int64_t>(64, 0))}), HasSubstr("65 dimensions; at most 64"));
}

template <class T>
void expect_transposed(const Shape& dims, const std::vector<int64_t>& perm) {
  Shape result;
  for (const int64_t axis : perm) result.push_back(dims[static_cast<size_t>(axis)]);
  const SingleNode node("Transpose", {ints_attribute("perm", perm)}, {counting_input<T>(dims)});
  expect_moved<T>(node, result, [&](const Index& index) {
    Index source(index.size());
    for (size_t d = 0; d < perm.size(); d++) source[static_cast<size_t>(perm[d])] = index[d];
    return source;
  });
}

TEST(Transpose, MovesEveryElement) {
  RandomStream random(1, "transpose test");
  for (int trial = 0; trial < 200; trial++) {
    const Shape dims = random_shape(random, 0, 5);
    std::vector<uint32_t> order(dims.size());
    random.permutation(order);
    const std::vector<int64_t> perm(order.begin(), order.end());
    expect_transposed<float>(dims, perm);
    if (trial % 10 == 0) expect_transposed<std::string>(dims, perm);
    if (trial % 10 == 1) expect_transposed<int16_t>(dims, perm);
  }
  expect_output<float>(SingleNode("Transpose", {}, {counting_input<float>({2, 3})}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_output<float>(SingleNode("Transpose", {}, {counting_input<float>({4, 0, 2})}), {2, 0, 4}, {});
  expect_gradients(SingleNode("Transpose", {ints_attribute("perm", {1, 2, 0})}, {random_input<double>({2, 3, 2}, 1)}));
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  const auto refusal = [](std::vector<int64_t> perm) {
    return sentence(
        [&] { SingleNode("Transpose", {ints_attribute("perm", std::move(perm))}, {counting_input<float>({2, 3})}); });
  };
  EXPECT_THAT(refusal({0}), HasSubstr("perm must list the 2 dimensions of the input, found 1 number"));
  EXPECT_THAT(refusal({1, 1}), HasSubstr("axis 1 is given twice"));
  EXPECT_THAT(refusal({0, 2}), HasSubstr("axis 2 is outside"));
}

template <class T>
void expect_expanded(const Shape& dims, const std::vector<int64_t>& shape, const Shape& result) {
  const SingleNode node("Expand", {}, {counting_input<T>(dims), integers(shape)});
  expect_moved<T>(node, result, [&](const Index& index) {
    Index source(index.end() - static_cast<ptrdiff_t>(dims.size()), index.end());
    for (size_t d = 0; d < dims.size(); d++) source[d] = dims[d] == 1 ? 0 : source[d];
    return source;
  });
}

TEST(Expand, RepeatsAlongEveryBroadcastDimension) {
  RandomStream random(1, "expand test");
  for (int trial = 0; trial < 200; trial++) {
    const Shape result = random_shape(random, 0, 5);
    // The input has dimensions of 1 where the result may differ, and shape where the input decides.
    Shape dims(result.begin() + static_cast<ptrdiff_t>(random.below(static_cast<uint32_t>(result.size()) + 1)),
               result.end());
    std::vector<int64_t> shape = result;
    for (size_t d = 0; d < result.size(); d++) {
      const size_t before = result.size() - dims.size();
      if (d >= before && random.below(2) == 0) dims[d - before] = 1;
      if (d >= before && dims[d - before] != 1 && random.below(2) == 0) shape[d] = 1;
    }
    expect_expanded<float>(dims, shape, result);
    if (trial % 10 == 0) expect_expanded<std::string>(dims, shape, result);
  }
  expect_expanded<float>({2, 3}, {}, {2, 3});
  expect_expanded<float>({2, 3}, {3}, {2, 3});
  expect_expanded<float>({1, 3}, {0, 1}, {0, 3});
  expect_gradients(SingleNode("Expand", {}, {random_input<double>({3, 1}, 1), integers({2, 3, 4})}));
  expect_gradients(SingleNode("Expand", {}, {random_input<double>({2, 1, 3}, 1), integers({2, 4, 1})}));
}

TEST(Expand, RefusesWhatDoesNotBroadcast) {
  const auto refusal = [](const std::vector<int64_t>& shape) {
    return sentence([&] { SingleNode("Expand", {}, {counting_input<float>({1, 3}), integers(shape)}); });
  };
  EXPECT_THAT(refusal({2, 2}), HasSubstr("dimensions 1 x 3 cannot be expanded to 2 x 2"));
  EXPECT_THAT(refusal({-1, 3}), HasSubstr("cannot be expanded"));
  EXPECT_THAT(refusal({INT64_MAX, INT64_MAX, 1, 1}), HasSubstr("are allowed"));
  EXPECT_THAT(refusal(std::vector<int64_t>(65, 1)), HasSubstr("at most 64"));
}

}  // namespace
}  // namespace assay::testing

// Relu and LeakyRelu: the float32 path of their own, and the one they share with other functions.
#include <gtest/gtest.h>

#include <limits>

#include "assay/model/ops/unary.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> floats(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

std::vector<float> backward(const SingleNode& node, const std::vector<float>& dy) {
  SingleNode::Run run = node.forward();
  const Tensor outer = Tensor::of<float>(run.outputs[0].dims(), dy);
  Tensor dx = Tensor::of<float>(run.outputs[0].dims(), std::vector<float>(dy.size(), 1));
  const std::vector<void*> in = {dx.raw()};
  const std::vector<const void*> out = {outer.raw()};
  node.kernel().backward(run.buffers(), {out, in});
  return floats(dx);
}

TEST(LeakyKernels, ReluInFloat32) {
  const SingleNode node("Relu", {}, {variable<float>({5}, {-1, 0, 2, -kInfinity, kInfinity})});
  EXPECT_EQ(floats(node.forward().outputs[0]), (std::vector<float>{0, 0, 2, 0, kInfinity}));
  // Added to ones.
  EXPECT_EQ(backward(node, {5, 6, 7, 8, 9}), (std::vector<float>{1, 1, 8, 1, 10}));
  const SingleNode strange("Relu", {}, {variable<float>({1}, {std::numeric_limits<float>::quiet_NaN()})});
  EXPECT_TRUE(std::isnan(floats(strange.forward().outputs[0])[0]));
}

TEST(LeakyKernels, LeakyReluInFloat32) {
  const SingleNode node("LeakyRelu", {float_attribute("alpha", 0.5F)}, {variable<float>({4}, {-1, 0, 2, -kInfinity})});
  EXPECT_EQ(floats(node.forward().outputs[0]), (std::vector<float>{-0.5, 0, 2, -kInfinity}));
  EXPECT_EQ(backward(node, {4, 6, 8, 2}), (std::vector<float>{3, 4, 9, 2}));
}

TEST(LeakyKernels, OffersItselfToFusedKernels) {
  const SingleNode node("LeakyRelu", {float_attribute("alpha", 0.5F)}, {random_input<float>({2}, 1)});
  const UnaryKernel* unary = node.kernel().unary();
  ASSERT_NE(unary, nullptr);
  EXPECT_EQ(unary->leaky_slope(), 0.5F);
  const std::vector<float> x = {-2, 3};
  std::vector<float> y(2);
  unary->apply(x.data(), y.data(), 2);
  EXPECT_EQ(y, (std::vector<float>{-1, 3}));
  std::vector<float> dx = {10, 20};
  unary->pull_back(x.data(), y.data(), dx.data(), dx.data(), 2);
  EXPECT_EQ(dx, (std::vector<float>{5, 20}));
  // From x = -2 to a reference of 2: (-1 - 2) / (-2 - 2).
  const std::vector<float> reference = {2, 4};
  const std::vector<float> y_reference = {2, 4};
  dx = {10, 20};
  unary->rescale_back(x.data(), y.data(), reference.data(), y_reference.data(), dx.data(), dx.data(), 2);
  EXPECT_EQ(dx, (std::vector<float>{7.5, 20}));
  const SingleNode relu("Relu", {}, {random_input<float>({2}, 1)});
  EXPECT_EQ(relu.kernel().unary()->leaky_slope(), 0);
}

TEST(LeakyKernels, GradientsAndMultipliersInDouble) {
  for (const char* op : {"Relu", "LeakyRelu"}) {
    const SingleNode node(op, {}, {variable<double>({4}, {-1.5, -0.25, 0.5, 2})});
    expect_gradients(node);
    expect_rescale_complete(node, {variable<double>({4}, {1, -1, -2, 2})});
  }
}

}  // namespace
}  // namespace assay::testing

// Relu and LeakyRelu: the float32 path of their own, and the one they share with other functions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
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

// Pairs of all kinds: both signs, far and near (by the rule, and at its edge), equal, and no numbers at all.
struct Pairs {
  std::vector<float> x, reference, dy;
};

Pairs many_pairs() {
  Pairs made;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> points = {0,      -0.0F, 1,      -1,        1e-30F,     -1e-30F, 1e-7F,
                                     -1e-7F, 3e38F, -3e38F, kInfinity, -kInfinity, kNan,    0.3F};
  for (const float x : points) {
    for (const float reference : points) {
      made.x.push_back(x);
      made.reference.push_back(reference);
    }
  }
  RandomStream stream(1, "leaky test");
  for (size_t k = 0; k < 4096; k++) {
    const auto x = static_cast<float>(stream.normal());
    // From 2^-26 to 2^5 apart: the rule's edge for x of about 1 is 2^-16.
    const float apart = std::ldexp(static_cast<float>(stream.normal()), static_cast<int>(k % 32) - 26);
    made.x.push_back(k % 5 == 0 ? apart / 3 : x);
    made.reference.push_back(k % 5 == 0 ? -apart : x + apart);
  }
  for (size_t i = 0; i < made.x.size(); i++) made.dy.push_back(static_cast<float>(stream.normal()));
  return made;
}

bool same_or_both_nan(float a, float b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// The vector code against the rule as it is written down, to the bit.
TEST(LeakyKernels, MultipliersFollowTheRuleOnAllTargets) {
  const Pairs pairs = many_pairs();
  const size_t count = pairs.x.size();
  const Shape dims = {static_cast<int64_t>(count)};
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    for (const float slope : {0.0F, 0.25F, 0.01F}) {
      SCOPED_TRACE(target + ", slope " + std::to_string(slope));
      std::vector<OnnxAttribute> attributes;
      if (slope != 0) attributes.push_back(float_attribute("alpha", slope));
      const std::string op = slope == 0 ? "Relu" : "LeakyRelu";
      const SingleNode node(op, attributes, {variable<float>(dims, pairs.x)});
      const SingleNode other(op, attributes, {variable<float>(dims, pairs.reference)});
      SingleNode::Run run = node.forward();
      SingleNode::Run reference = other.forward();
      const std::vector<float> y = floats(run.outputs[0]);
      const std::vector<float> y_reference = floats(reference.outputs[0]);
      std::vector<float> expected;
      size_t near = 0;
      for (size_t i = 0; i < count; i++) {
        const auto slope_at = [&](float at) {
          near++;
          return at > 0 ? 1.0F : slope;
        };
        expected.push_back(rescale_multiplier<float>(pairs.x[i], pairs.reference[i], y[i], y_reference[i], slope_at) *
                           pairs.dy[i]);
      }
      EXPECT_GT(near, count / 8);
      EXPECT_LT(near, count / 2);
      // In place, and for every length of what is left after whole vectors.
      for (size_t length = count - 17; length <= count; length++) {
        std::vector<float> dx = pairs.dy;
        node.kernel().unary()->rescale_back(pairs.x.data(), y.data(), pairs.reference.data(), y_reference.data(),
                                            dx.data(), dx.data(), length);
        for (size_t i = 0; i < count; i++) {
          ASSERT_TRUE(same_or_both_nan(dx[i], i < length ? expected[i] : pairs.dy[i]))
              << pairs.x[i] << " to " << pairs.reference[i] << ": " << dx[i] << ", not " << expected[i];
        }
      }
      const Tensor outer = Tensor::of<float>(dims, pairs.dy);
      Tensor dx = Tensor::of<float>(dims, std::vector<float>(count, 1));
      const std::vector<void*> in = {dx.raw()};
      const std::vector<const void*> out = {outer.raw()};
      node.kernel().rescale(run.buffers(), reference.buffers(), {out, in});
      const std::vector<float> added = floats(dx);
      for (size_t i = 0; i < count; i++) ASSERT_TRUE(same_or_both_nan(added[i], 1 + expected[i]));
    }
  }
  pin_vector_target(vector_targets().front());
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

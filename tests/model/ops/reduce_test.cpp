// ReduceSum, ReduceMean, ReduceMax, ArgMax.
#include "assay/model/ops/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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

// A reduction of x over axes by definition: element by element, with coordinates.
template <class Fold>
std::vector<double> by_definition(const Tensor& x, const std::vector<bool>& folds, double start, const Fold& fold) {
  size_t outputs = 1;
  for (size_t i = 0; i < folds.size(); i++) outputs *= folds[i] ? 1 : static_cast<size_t>(x.dims()[i]);
  std::vector<double> y(outputs, start);
  for (size_t i = 0; i < x.count(); i++) {
    size_t rest = i, output = 0, step = 1;
    for (size_t axis = folds.size(); axis-- > 0;) {
      const auto length = static_cast<size_t>(x.dims()[axis]);
      if (!folds[axis]) {
        output += rest % length * step;
        step *= length;
      }
      rest /= length;
    }
    y[output] = fold(y[output], x.data<double>()[i]);
  }
  return y;
}

TEST(Reduce, EveryChoiceOfAxesAgreesWithTheDefinition) {
  const Shape dims = {2, 3, 1, 4, 3};
  const NodeInput x = random_input<double>(dims, 3);
  for (size_t choice = 1; choice < 32; choice++) {
    std::vector<bool> folds(5);
    std::vector<int64_t> axes;
    double count = 1;
    Shape kept;
    for (size_t axis = 0; axis < 5; axis++) {
      folds[axis] = (choice >> axis & 1) != 0;
      if (folds[axis]) {
        axes.push_back(static_cast<int64_t>(axis) - (axis % 2 == 0 ? 5 : 0));
        count *= static_cast<double>(dims[axis]);
      } else {
        kept.push_back(dims[axis]);
      }
    }
    const std::vector<OnnxAttribute> attributes = {ints_attribute("axes", axes), int_attribute("keepdims", 0)};
    const auto sums = by_definition(*x.tensor, folds, 0, [](double a, double b) { return a + b; });
    const auto most = by_definition(*x.tensor, folds, -kInfinity, [](double a, double b) { return std::max(a, b); });
    const SingleNode sum("ReduceSum", attributes, {x}, 1, 11);
    const SingleNode mean("ReduceMean", attributes, {x});
    const SingleNode max("ReduceMax", attributes, {x});
    EXPECT_EQ(sum.output_info(0)->dims, kept);
    const auto found_sum = values_of<double>(sum), found_mean = values_of<double>(mean);
    ASSERT_EQ(found_sum.size(), sums.size());
    for (size_t i = 0; i < sums.size(); i++) {
      EXPECT_NEAR(found_sum[i], sums[i], 1e-14) << choice;
      EXPECT_NEAR(found_mean[i], sums[i] / count, 1e-14) << choice;
    }
    EXPECT_EQ(values_of<double>(max), most) << choice;
    expect_gradients(sum);
    expect_gradients(mean);
    expect_gradients(max);
    expect_rescale_complete(mean, {random_input<double>(dims, 4)});
    expect_rescale_complete(max, {random_input<double>(dims, 4)});
  }
}

TEST(Reduce, AxesMoveToAnInput) {
  const NodeInput x = variable<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const NodeInput last = constant<int64_t>({1}, {-1});
  const SingleNode sum("ReduceSum", {}, {x, last}, 1, 13);
  EXPECT_EQ(sum.output_info(0)->dims, (Shape{2, 1}));
  EXPECT_THAT(values_of<float>(sum), ElementsAre(6, 15));
  EXPECT_THAT(values_of<float>(SingleNode("ReduceMean", {}, {x, last}, 1, 18)), ElementsAre(2, 5));
  EXPECT_THAT(values_of<float>(SingleNode("ReduceMax", {}, {x, last}, 1, 23)), ElementsAre(3, 6));
  EXPECT_THAT(values_of<float>(SingleNode("ReduceMax", {ints_attribute("axes", {0})}, {x}, 1, 17)),
              ElementsAre(4, 5, 6));
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax"}) {
    const auto make = [&](std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs, int64_t opset) {
      return sentence([&] { SingleNode(op, attributes, inputs, 1, opset); });
    };
    EXPECT_THAT(make({ints_attribute("axes", {0})}, {x}, 18), HasSubstr("its axes must be an input from opset 1"));
    EXPECT_THAT(make({}, {x, last}, 12), HasSubstr("expected 1 input, found 2"));
    EXPECT_THAT(make({}, {x, variable<int64_t>({1}, {0})}, 18), HasSubstr("the list of axes (input 2) depends on"));
    EXPECT_THAT(make({}, {x, constant<int64_t>({1}, {2})}, 18), HasSubstr("axis 2 is outside"));
    EXPECT_THAT(make({ints_attribute("axes", {1, -1})}, {x}, 11), HasSubstr("axis 1 is given twice"));
    EXPECT_THAT(make({ints_attribute("axes", {INT64_MIN})}, {x}, 11), HasSubstr("is outside"));
    EXPECT_THAT(make({}, {variable<std::string>({1}, {"a"})}, 18), HasSubstr("must be numbers, found STRING"));
  }
}

TEST(Reduce, WithoutAxesAllAreFoldedUnlessTheNodeSaysNone) {
  const NodeInput x = variable<float>({2, 2}, {1, 2, 3, 4});
  const SingleNode all("ReduceSum", {}, {x});
  EXPECT_EQ(all.output_info(0)->dims, (Shape{1, 1}));
  EXPECT_THAT(values_of<float>(all), ElementsAre(10));
  EXPECT_EQ(SingleNode("ReduceSum", {int_attribute("keepdims", 0)}, {x}).output_info(0)->dims, Shape{});
  const NodeInput none = constant<int64_t>({0}, {});
  EXPECT_THAT(values_of<float>(SingleNode("ReduceSum", {}, {x, none})), ElementsAre(10));
  const OnnxAttribute noop = int_attribute("noop_with_empty_axes", 1);
  const SingleNode same("ReduceSum", {noop}, {x, none});
  EXPECT_EQ(same.output_info(0)->dims, (Shape{2, 2}));
  EXPECT_THAT(values_of<float>(same), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values_of<float>(SingleNode("ReduceMax", {noop}, {x}, 1, 18)), ElementsAre(1, 2, 3, 4));
  // Before axes were an input there was no such attribute.
  EXPECT_THAT(values_of<float>(SingleNode("ReduceMean", {noop}, {x}, 1, 17)), ElementsAre(2.5F));
  // A value without dimensions.
  EXPECT_THAT(values_of<float>(SingleNode("ReduceMean", {}, {variable<float>({}, {7})})), ElementsAre(7));
}

TEST(Reduce, SumsOfFloat32AreRoundedOnce) {
  // In float32 the ones would be lost, one by one.
  std::vector<float> values(65, 1.0F);
  values[0] = 16777216.0F;
  EXPECT_THAT(values_of<float>(SingleNode("ReduceSum", {}, {variable<float>({65}, values)})), ElementsAre(16777280.0F));
  EXPECT_THAT(values_of<float>(
                  SingleNode("ReduceSum", {ints_attribute("axes", {0})}, {variable<float>({65, 1}, values)}, 1, 11)),
              ElementsAre(16777280.0F));
}

TEST(Reduce, WholeNumbers) {
  EXPECT_THAT(values_of<int32_t>(SingleNode("ReduceSum", {}, {variable<int32_t>({3}, {-5, 2, 1})})), ElementsAre(-2));
  EXPECT_THAT(values_of<int32_t>(SingleNode("ReduceMean", {}, {variable<int32_t>({3}, {-5, 2, 1})})), ElementsAre(0));
  EXPECT_THAT(values_of<int32_t>(SingleNode("ReduceMean", {}, {variable<int32_t>({2}, {-5, -2})})), ElementsAre(-3));
  EXPECT_THAT(values_of<uint32_t>(SingleNode("ReduceMean", {}, {variable<uint32_t>({2}, {4000000000U, 4000000002U})})),
              ElementsAre(4000000001U));
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(values_of<int64_t>(SingleNode("ReduceSum", {}, {variable<int64_t>({2}, {most, 1})})),
              ElementsAre(std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(values_of<int8_t>(SingleNode("ReduceMax", {}, {variable<int8_t>({3}, {-5, -2, -7})})), ElementsAre(-2));
  EXPECT_FALSE(SingleNode("ReduceMax", {}, {variable<int8_t>({1}, {1})}).kernel().differentiable(0));
  EXPECT_FALSE(SingleNode("ReduceSum", {}, {variable<int32_t>({1}, {1})}).kernel().differentiable(0));
  EXPECT_THAT(sentence([] { SingleNode("ReduceMean", {}, {variable<int32_t>({0}, {})}); }),
              HasSubstr("the mean of no elements is not a whole number"));
}

TEST(Reduce, BooleansHaveAMaximumFromOpset20) {
  const NodeInput x = variable<bool>({2, 2}, {false, true, false, false});
  const NodeInput last = constant<int64_t>({1}, {1});
  EXPECT_THAT(values_of<bool>(SingleNode("ReduceMax", {}, {x, last}, 1, 20)), ElementsAre(true, false));
  EXPECT_THAT(sentence([&] { SingleNode("ReduceMax", {}, {x, last}, 1, 18); }),
              HasSubstr("must be numbers, found BOOL"));
  EXPECT_THAT(sentence([&] { SingleNode("ReduceSum", {}, {x, last}, 1, 20); }),
              HasSubstr("must be numbers, found BOOL"));
}

TEST(Reduce, OfNothing) {
  const NodeInput x = variable<double>({2, 0}, {});
  const NodeInput last = constant<int64_t>({1}, {1});
  EXPECT_THAT(values_of<double>(SingleNode("ReduceSum", {}, {x, last}, 1, 18)), ElementsAre(0, 0));
  EXPECT_THAT(values_of<double>(SingleNode("ReduceMax", {}, {x, last}, 1, 20)), ElementsAre(-kInfinity, -kInfinity));
  for (const double mean : values_of<double>(SingleNode("ReduceMean", {}, {x, last}, 1, 18)))
    EXPECT_TRUE(std::isnan(mean));
  EXPECT_EQ(values_of<double>(SingleNode("ReduceSum", {}, {x, constant<int64_t>({1}, {0})}, 1, 18)).size(), 0U);
}

TEST(ReduceMax, NanWins) {
  for (const size_t at : {0U, 1U, 3U}) {
    std::vector<double> x = {1, 5, 3, 2};
    x[at] = kNaN;
    EXPECT_TRUE(std::isnan(values_of<double>(SingleNode("ReduceMax", {}, {variable<double>({4}, x)}))[0])) << at;
    EXPECT_TRUE(std::isnan(
        values_of<double>(SingleNode("ReduceMax", {ints_attribute("axes", {0})}, {variable<double>({4, 1}, x)}))[0]));
  }
}

std::vector<double> pulled(const SingleNode& node, std::vector<double> by_output) {
  SingleNode::Run run = node.forward();
  Tensor gradient(OnnxElement::float64, node.inputs()[0].tensor->dims());
  const void* out[] = {by_output.data()};
  void* in[] = {gradient.raw(), nullptr};
  node.kernel().backward(run.buffers(), {out, in});
  return {gradient.data<double>(), gradient.data<double>() + gradient.count()};
}

TEST(ReduceMax, TiesShareTheDerivative) {
  const OnnxAttribute last = ints_attribute("axes", {1});
  const SingleNode max("ReduceMax", {last}, {variable<double>({2, 3}, {1, 4, 4, 2, 0, 1})});
  EXPECT_THAT(pulled(max, {3, 5}), ElementsAre(0, 1.5, 1.5, 5, 0, 0));
}

TEST(ReduceMax, RescaleFollowsTheRule) {
  const OnnxAttribute last = ints_attribute("axes", {1});
  const SingleNode max("ReduceMax", {last}, {variable<double>({1, 3}, {1, 4, 2})});
  SingleNode::Run run = max.forward();
  const std::vector<NodeInput> reference = {variable<double>({1, 3}, {3, 0, 2})};
  SingleNode::Run base = max.forward(reference);
  std::vector<double> found(3), one = {2};
  const void* out[] = {one.data()};
  void* in[] = {found.data()};
  max.kernel().rescale(run.buffers(), base.buffers(), {out, in});
  // y = 4 at element 1, 3 at element 0 of the reference: 4 - 3 goes to element 1, over its difference of 4.
  EXPECT_THAT(found, ElementsAre(0, 0.5, 0));
  // Downwards the change goes to the element that won at the reference.
  found.assign(3, 0);
  max.kernel().rescale(base.buffers(), run.buffers(), {out, in});
  EXPECT_THAT(found, ElementsAre(0, 0.5, 0));
  found.assign(3, 0);
  max.kernel().rescale(run.buffers(), run.buffers(), {out, in});
  EXPECT_THAT(found, ElementsAre(0, 0, 0));
  // Ties at x, both above the reference.
  const SingleNode tied("ReduceMax", {last}, {variable<double>({1, 3}, {4, 4, 2})});
  expect_rescale_complete(tied, {variable<double>({1, 3}, {3, 0, 2})});
  // Ties at the reference alone, above x.
  expect_rescale_complete(max, {variable<double>({1, 3}, {5, 4, 5})});
}

TEST(ArgMax, AxesAndTies) {
  const NodeInput x = variable<float>({2, 3}, {2, 2, 1, 3, 10, 10});
  EXPECT_THAT(values_of<int64_t>(SingleNode("ArgMax", {}, {x})), ElementsAre(1, 1, 1));
  const SingleNode first("ArgMax", {int_attribute("axis", -1), int_attribute("keepdims", 0)}, {x});
  EXPECT_EQ(first.output_info(0)->dims, Shape{2});
  EXPECT_EQ(first.output_info(0)->type, OnnxElement::int64);
  EXPECT_THAT(values_of<int64_t>(first), ElementsAre(0, 1));
  EXPECT_FALSE(first.kernel().differentiable(0));
  const SingleNode last("ArgMax", {int_attribute("axis", 1), int_attribute("select_last_index", 1)}, {x});
  EXPECT_EQ(last.output_info(0)->dims, (Shape{2, 1}));
  EXPECT_THAT(values_of<int64_t>(last), ElementsAre(1, 2));
  // Middle axis: 2 x 3 x 2.
  EXPECT_THAT(values_of<int64_t>(SingleNode("ArgMax", {int_attribute("axis", 1)},
                                            {variable<int32_t>({2, 3, 2}, {1, 9, 5, 2, 3, 8, -1, -2, -3, -4, 0, -1})})),
              ElementsAre(1, 0, 2, 2));
}

TEST(ArgMax, NanWins) {
  const auto found = [](std::vector<double> x, int64_t last) {
    return values_of<int64_t>(
        SingleNode("ArgMax", {int_attribute("select_last_index", last)}, {variable<double>({4}, x)}))[0];
  };
  EXPECT_EQ(found({1, kNaN, 7, kNaN}, 0), 1);
  EXPECT_EQ(found({1, kNaN, 7, kNaN}, 1), 3);
  EXPECT_EQ(found({kNaN, kNaN, kInfinity, 8}, 0), 0);
  EXPECT_EQ(found({kNaN, kNaN, kInfinity, 8}, 1), 1);
}

TEST(ArgMax, Refuses) {
  EXPECT_THAT(sentence([] { SingleNode("ArgMax", {}, {variable<float>({0, 2}, {})}); }),
              HasSubstr("axis 0 of an input of 0 x 2 has no elements to choose from"));
  EXPECT_THAT(sentence([] { SingleNode("ArgMax", {}, {variable<float>({}, {1})}); }), HasSubstr("1 to 64 dimensions"));
  EXPECT_THAT(sentence([] { SingleNode("ArgMax", {int_attribute("axis", 2)}, {variable<float>({1, 1}, {1})}); }),
              HasSubstr("axis 2 is outside"));
  EXPECT_EQ(values_of<int64_t>(SingleNode("ArgMax", {int_attribute("axis", 1)}, {variable<float>({0, 2}, {})})).size(),
            0U);
}

}  // namespace
}  // namespace assay

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/movement_reference.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

OnnxAttribute mode(const std::string& name) { return text_attribute("mode", name); }

// Cuts off and then grows a line of positions one by one, as the words of the mode say; -1 is the value.
std::vector<int64_t> padded(const std::string& how, int64_t size, int64_t before, int64_t after) {
  std::vector<int64_t> line(static_cast<size_t>(size));
  std::iota(line.begin(), line.end(), 0);
  for (; before < 0; before++) line.erase(line.begin());
  for (; after < 0; after++) line.pop_back();
  const std::vector<int64_t> core = line;
  // A walk that starts at one end and goes on by the mode, for each of the two directions.
  const auto walk = [&](int64_t count, bool forwards) {
    std::vector<int64_t> found;
    auto at = static_cast<ptrdiff_t>(forwards ? core.size() - 1 : 0);
    ptrdiff_t step = forwards ? 1 : -1;
    const auto last = static_cast<ptrdiff_t>(core.size()) - 1;
    for (int64_t i = 0; i < count; i++) {
      if (how == "constant") {
        found.push_back(-1);
        continue;
      }
      if (how == "wrap") at = at + step > last ? 0 : at + step < 0 ? last : at + step;
      if (how == "reflect" && last > 0) {
        if (at + step > last || at + step < 0) step = -step;
        at += step;
      }
      found.push_back(core[static_cast<size_t>(at)]);
    }
    return found;
  };
  std::vector<int64_t> result = walk(before, false);
  std::reverse(result.begin(), result.end());
  result.insert(result.end(), core.begin(), core.end());
  const std::vector<int64_t> tail = walk(after, true);
  result.insert(result.end(), tail.begin(), tail.end());
  return result;
}

template <class T>
void expect_padded(RandomStream& random, const std::string& how, const T& value) {
  const Shape dims = random_shape(random, 0, 4);
  std::vector<int64_t> pads(2 * dims.size());
  std::vector<std::vector<int64_t>> lines;
  Shape result;
  for (size_t d = 0; d < dims.size(); d++) {
    int64_t& before = pads[d];
    int64_t& after = pads[d + dims.size()];
    if (random.below(3) != 0) {
      before = static_cast<int64_t>(random.below(8)) - 2;
      after = static_cast<int64_t>(random.below(8)) - 2;
      // Something must be left.
      if (std::max<int64_t>(-before, 0) + std::max<int64_t>(-after, 0) >= dims[d]) before = after = 1;
    }
    lines.push_back(padded(how, dims[d], before, after));
    result.push_back(static_cast<int64_t>(lines.back().size()));
  }
  const NodeInput x = counting_input<T>(dims);
  const SingleNode node("Pad", {mode(how)}, {x, integers(pads), constant<T>({}, {value})}, 1, 19);
  std::vector<T> expected;
  for_each_index(result, [&](const Index& index) {
    Index source(index.size());
    bool filled = false;
    for (size_t d = 0; d < dims.size(); d++) {
      source[d] = lines[d][static_cast<size_t>(index[d])];
      filled = filled || source[d] < 0;
    }
    expected.push_back(filled ? value : x.tensor->data<T>()[offset_of(dims, source)]);
  });
  expect_output<T>(node, result, expected);
}

TEST(Pad, EveryModeAndSize) {
  RandomStream random(1, "pad test");
  for (const std::string how : {"constant", "reflect", "edge", "wrap"}) {
    for (int trial = 0; trial < 200; trial++) {
      expect_padded<float>(random, how, -5.0F);
      if (trial % 5 == 0) expect_padded<std::string>(random, how, "a value that is put around the others");
      if (trial % 5 == 1) expect_padded<int8_t>(random, how, -5);
    }
  }
}

TEST(Pad, HandExamples) {
  const NodeInput x = variable<float>({3}, {1, 2, 3});
  const auto run = [&](const std::string& how, const std::vector<int64_t>& pads) {
    const SingleNode node("Pad", {mode(how)}, {x, integers(pads)}, 1, 19);
    const auto forward = node.forward();
    const auto values = forward.outputs[0].values<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_EQ(run("constant", {1, 2}), (std::vector<float>{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(run("reflect", {2, 1}), (std::vector<float>{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(run("edge", {2, 1}), (std::vector<float>{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(run("wrap", {2, 1}), (std::vector<float>{2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(run("constant", {-1, 1}), (std::vector<float>{2, 3, 0}));
  // More is cut off than there is, and constants still fill what is asked for.
  EXPECT_EQ(run("constant", {-4, 3}), (std::vector<float>{0, 0}));
  EXPECT_EQ(run("edge", {-3, 0}), std::vector<float>{});
}

TEST(Pad, AttributesAndInputsByOpset) {
  const NodeInput x = variable<float>({2}, {1, 2});
  expect_output<float>(SingleNode("Pad", {ints_attribute("pads", {1, 1}), float_attribute("value", 9)}, {x}, 1, 10),
                       {4}, {9, 1, 2, 9});
  expect_output<float>(SingleNode("Pad", {}, {x, integers({1, 0}), variable<float>({1}, {9})}, 1, 11), {3}, {9, 1, 2});
  const NodeInput y = counting_input<int32_t>({2, 2});
  expect_output<int32_t>(SingleNode("Pad", {}, {y, integers({1, 0}), left_out(), integers({-1})}, 1, 18), {2, 3},
                         {0, 0, 1, 0, 2, 3});
  expect_output<int32_t>(
      SingleNode("Pad", {}, {y, integers({1, 0, 0, 1}), left_out(), constant<int32_t>({2}, {1, 0})}, 1, 18), {3, 3},
      {0, 0, 1, 0, 2, 3, 0, 0, 0});
  expect_output<int32_t>(SingleNode("Pad", {}, {y, integers({}), left_out(), integers({})}, 1, 18), {2, 2},
                         {0, 1, 2, 3});
  expect_output<float>(SingleNode("Pad", {}, {counting_input<float>({0}), integers({1, 2})}), {3}, {0, 0, 0});
}

TEST(Pad, Differentiates) {
  const NodeInput x = random_input<double>({2, 3, 2}, 1);
  for (const std::string how : {"constant", "reflect", "edge", "wrap"}) {
    expect_gradients(SingleNode("Pad", {mode(how)}, {x, integers({0, 4, 0, 0, 1, 0})}, 1, 19));
    expect_gradients(SingleNode("Pad", {mode(how)}, {x, integers({1, -1, 3, 0, 2, -1})}, 1, 19));
  }
  // The derivative by the value is the sum over what it fills.
  expect_gradients(SingleNode("Pad", {}, {x, integers({1, -1, 3, 0, 2, -1}), random_input<double>({}, 2)}));
  const SingleNode whole("Pad", {}, {counting_input<int64_t>({2}), integers({1, 1})});
  EXPECT_FALSE(whole.kernel().differentiable(0));
  const SingleNode ignored("Pad", {mode("edge")}, {x, integers({1, 0, 0, 0, 0, 0}), random_input<double>({}, 2)});
  EXPECT_FALSE(ignored.kernel().differentiable(2));
  EXPECT_FALSE(SingleNode("Pad", {}, {x, integers({1, 0, 0, 0, 0, 0})}).kernel().differentiable(2));
}

TEST(Pad, Refuses) {
  const NodeInput x = counting_input<float>({2});
  const auto refusal = [&](const std::string& how, const std::vector<int64_t>& pads, int64_t opset = 19) {
    return sentence([&] { SingleNode("Pad", {mode(how)}, {x, integers(pads)}, 1, opset); });
  };
  EXPECT_THAT(refusal("mirror", {1, 1}), HasSubstr("mode must be constant, reflect, edge or wrap, found 'mirror'"));
  EXPECT_THAT(refusal("wrap", {1, 1}, 18), HasSubstr("mode must be constant, reflect or edge, found 'wrap'"));
  EXPECT_THAT(refusal("constant", {1}), HasSubstr("pads must be 2 numbers, two for each axis, found 1"));
  EXPECT_THAT(refusal("constant", {-2, -1}), HasSubstr("its output would have the dimensions -1"));
  EXPECT_THAT(refusal("constant", {INT64_MAX, INT64_MAX}), HasSubstr("a pad of 9223372036854775807"));
  EXPECT_THAT(refusal("constant", {INT64_MIN, 0}), HasSubstr("a pad of -9223372036854775808"));
  EXPECT_THAT(refusal("constant", {int64_t{1} << 40, 0}), HasSubstr("are allowed"));
  EXPECT_THAT(refusal("edge", {-2, 1}), HasSubstr("an axis of 2 elements has none left to pad with"));
  EXPECT_THAT(sentence([&] { SingleNode("Pad", {}, {x, integers({1, 1}), constant<double>({}, {1})}); }),
              HasSubstr("input 3 must be FLOAT, found DOUBLE"));
  EXPECT_THAT(sentence([&] { SingleNode("Pad", {}, {x, integers({1, 1}), constant<float>({2}, {1, 2})}); }),
              HasSubstr("constant_value must be one element, found 2"));
  EXPECT_THAT(sentence([&] { SingleNode("Pad", {}, {x}, 1, 10); }), HasSubstr("expected pads, found none"));
  EXPECT_THAT(
      sentence([&] { SingleNode("Pad", {}, {x, integers({1, 1, 1, 1}), left_out(), integers({0, -1})}, 1, 18); }),
      HasSubstr("axis 0 is given twice"));
}

}  // namespace
}  // namespace assay::testing

// Conv against the sum of its definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

struct ConvCase {
  Shape x, w;
  std::vector<int64_t> strides, dilations, pads;
  int64_t group = 1;
  std::string auto_pad = "";
};

std::vector<OnnxAttribute> attributes_of(const ConvCase& at) {
  std::vector<OnnxAttribute> attributes = {int_attribute("group", at.group)};
  if (!at.strides.empty()) attributes.push_back(ints_attribute("strides", at.strides));
  if (!at.dilations.empty()) attributes.push_back(ints_attribute("dilations", at.dilations));
  if (!at.pads.empty()) attributes.push_back(ints_attribute("pads", at.pads));
  if (!at.auto_pad.empty()) attributes.push_back(text_attribute("auto_pad", at.auto_pad));
  return attributes;
}

// All of it in three spatial dimensions, with the padding at the beginning and the output's size given.
struct Geometry {
  int64_t in[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pad[3] = {},
          out[3] = {1, 1, 1};
};

std::vector<double> plain_conv(const ConvCase& at, const Tensor& x, const Tensor& w, const Tensor* bias, const Shape& y,
                               const std::vector<int64_t>& pads_begin) {
  Geometry g;
  const size_t rank = at.x.size() - 2;
  for (size_t i = 0; i < rank; i++) {
    const size_t to = 3 - rank + i;
    g.in[to] = at.x[2 + i];
    g.kernel[to] = at.w[2 + i];
    g.out[to] = y[2 + i];
    g.pad[to] = pads_begin[i];
    if (!at.strides.empty()) g.stride[to] = at.strides[i];
    if (!at.dilations.empty()) g.dilation[to] = at.dilations[i];
  }
  const int64_t channels = at.w[1];
  const int64_t outputs = at.w[0];
  std::vector<double> found;
  for (int64_t image = 0; image < at.x[0]; image++) {
    for (int64_t o = 0; o < outputs; o++) {
      for (int64_t p = 0; p < g.out[0] * g.out[1] * g.out[2]; p++) {
        const int64_t place[3] = {p / (g.out[1] * g.out[2]), p / g.out[2] % g.out[1], p % g.out[2]};
        double sum = bias == nullptr ? 0 : static_cast<double>(bias->data<float>()[o]);
        for (int64_t c = 0; c < channels; c++) {
          for (int64_t k = 0; k < g.kernel[0] * g.kernel[1] * g.kernel[2]; k++) {
            const int64_t part[3] = {k / (g.kernel[1] * g.kernel[2]), k / g.kernel[2] % g.kernel[1], k % g.kernel[2]};
            bool inside = true;
            int64_t from = image * at.x[1] + o / (outputs / at.group) * channels + c;
            for (int dim = 0; dim < 3; dim++) {
              const int64_t position = place[dim] * g.stride[dim] - g.pad[dim] + part[dim] * g.dilation[dim];
              inside = inside && position >= 0 && position < g.in[dim];
              from = from * g.in[dim] + position;
            }
            if (!inside) continue;
            sum +=
                static_cast<double>(x.data<float>()[from]) *
                static_cast<double>(w.data<float>()[(o * channels + c) * g.kernel[0] * g.kernel[1] * g.kernel[2] + k]);
          }
        }
        found.push_back(sum);
      }
    }
  }
  return found;
}

struct Expected {
  ConvCase at;
  Shape y;
  std::vector<int64_t> pads_begin;
};
std::vector<Expected> small_cases() {
  return {
      {{{2, 1, 7}, {2, 1, 3}, {}, {}, {}}, {2, 2, 5}, {0}},
      {{{1, 2, 9}, {3, 2, 3}, {2}, {2}, {1, 3}}, {1, 3, 5}, {1}},
      {{{2, 2, 5, 6}, {3, 2, 3, 2}, {}, {}, {}}, {2, 3, 3, 5}, {0, 0}},
      {{{1, 2, 5, 6}, {2, 2, 3, 3}, {2, 1}, {1, 2}, {1, 2, 0, 3}}, {1, 2, 2, 7}, {1, 2}},
      {{{1, 4, 5, 5}, {4, 2, 3, 3}, {}, {}, {1, 1, 1, 1}, 2}, {1, 4, 5, 5}, {1, 1}},
      {{{2, 3, 4, 4}, {6, 1, 3, 3}, {}, {}, {1, 1, 1, 1}, 3}, {2, 6, 4, 4}, {1, 1}},
      {{{2, 3, 4, 5}, {2, 3, 1, 1}, {}, {}, {}}, {2, 2, 4, 5}, {0, 0}},
      {{{2, 4, 3, 3}, {4, 2, 1, 1}, {}, {}, {}, 2}, {2, 4, 3, 3}, {0, 0}},
      {{{1, 3, 4, 5}, {2, 3, 1, 1}, {2, 2}, {}, {}}, {1, 2, 2, 3}, {0, 0}},
      {{{1, 3, 2, 2}, {2, 3, 1, 1}, {}, {}, {1, 0, 0, 1}}, {1, 2, 3, 3}, {1, 0}},
      {{{1, 1, 5, 5}, {1, 1, 2, 2}, {2, 2}, {}, {}, 1, "SAME_UPPER"}, {1, 1, 3, 3}, {0, 0}},
      {{{1, 1, 5, 5}, {1, 1, 2, 2}, {2, 2}, {}, {}, 1, "SAME_LOWER"}, {1, 1, 3, 3}, {1, 1}},
      {{{1, 1, 5, 5}, {1, 1, 2, 2}, {2, 2}, {}, {}, 1, "VALID"}, {1, 1, 2, 2}, {0, 0}},
      {{{1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {1, 2, 1}, {}, {1, 0, 0, 0, 1, 1}}, {1, 2, 3, 2, 3}, {1, 0, 0}},
      // The kernel is never wholly inside.
      {{{1, 1, 2, 2}, {1, 1, 5, 5}, {}, {}, {3, 3, 3, 3}}, {1, 1, 4, 4}, {3, 3}},
      // Padding so wide that whole windows lie in it.
      {{{1, 1, 3}, {1, 1, 2}, {}, {}, {4, 5}}, {1, 1, 11}, {4}},
      // One position.
      {{{3, 2, 3, 3}, {4, 2, 3, 3}, {}, {}, {}}, {3, 4, 1, 1}, {0, 0}},
  };
}
// So large that positions are computed in strips, which end in the middle of lines.
std::vector<Expected> large_cases() {
  return {{{{2, 8, 40, 37}, {3, 8, 5, 5}, {}, {}, {2, 2, 2, 2}}, {2, 3, 40, 37}, {2, 2}},
          {{{1, 70, 9, 9, 9}, {2, 70, 3, 3, 3}, {}, {}, {}}, {1, 2, 7, 7, 7}, {0, 0, 0}},
          {{{1, 32, 12, 12}, {64, 32, 5, 5}, {}, {}, {}}, {1, 64, 8, 8}, {0, 0}}};
}

template <class T>
std::vector<NodeInput> inputs_of(const ConvCase& at, bool bias, uint64_t seed = 1) {
  if (!bias) return {random_input<T>(at.x, seed), random_input<T>(at.w, seed + 1)};
  return {random_input<T>(at.x, seed), random_input<T>(at.w, seed + 1), random_input<T>({at.w[0]}, seed + 2)};
}

TEST(Conv, ComputesItsDefinition) {
  std::vector<Expected> cases = small_cases();
  for (Expected& large : large_cases()) cases.push_back(std::move(large));
  for (const auto& [at, y, pads_begin] : cases) {
    SCOPED_TRACE(onnx_shape_text(at.x) + " by " + onnx_shape_text(at.w));
    for (const bool bias : {false, true}) {
      const std::vector<NodeInput> inputs = inputs_of<float>(at, bias);
      const SingleNode node("Conv", attributes_of(at), inputs);
      ASSERT_EQ(node.output_info(0)->dims, y);
      const std::vector<double> expected =
          plain_conv(at, *inputs[0].tensor, *inputs[1].tensor, bias ? inputs[2].tensor.get() : nullptr, y, pads_begin);
      const SingleNode::Run run = node.forward();
      ASSERT_EQ(run.outputs[0].count(), expected.size());
      size_t wrong = 0;
      for (size_t i = 0; i < expected.size(); i++) {
        const auto found = static_cast<double>(run.outputs[0].data<float>()[i]);
        wrong += std::abs(found - expected[i]) > 1e-4 * (1 + std::abs(expected[i]));
      }
      EXPECT_EQ(wrong, 0U);
    }
  }
}

TEST(Conv, Gradients) {
  for (const auto& [at, y, pads_begin] : small_cases()) {
    SCOPED_TRACE(onnx_shape_text(at.x) + " by " + onnx_shape_text(at.w));
    expect_gradients(SingleNode("Conv", attributes_of(at), inputs_of<double>(at, true)));
    expect_rescale_complete(SingleNode("Conv", attributes_of(at), inputs_of<double>(at, true)),
                            inputs_of<double>(at, true, 11));
  }
}

NodeInput widened(const NodeInput& input) {
  const auto values = input.tensor->values<float>();
  return variable<double>(input.tensor->dims(), std::vector<double>(values.begin(), values.end()));
}

// Gradients of one type for the same weights on the output, rounded to float32.
template <class T>
std::vector<std::vector<double>> gradients_of(const SingleNode& node, const std::vector<NodeInput>* reference,
                                              double initial = 0) {
  SingleNode::Run run = node.forward();
  const Tensor wide = output_weights(run.outputs[0]);
  Tensor weights(element_of<T>(), wide.dims());
  for (size_t i = 0; i < wide.count(); i++) {
    weights.data<T>()[i] = static_cast<T>(static_cast<float>(wide.data<double>()[i]));
  }
  std::vector<Tensor> gradients;
  std::vector<void*> in;
  for (const NodeInput& input : node.inputs()) {
    gradients.emplace_back(element_of<T>(), input.tensor->dims());
    for (size_t i = 0; i < gradients.back().count(); i++) gradients.back().data<T>()[i] = static_cast<T>(initial);
    in.push_back(gradients.back().raw());
  }
  const std::vector<const void*> out = {weights.raw()};
  if (reference == nullptr) {
    node.kernel().backward(run.buffers(), {out, in});
  } else {
    SingleNode::Run base = node.forward(*reference);
    node.kernel().rescale(run.buffers(), base.buffers(), {out, in});
  }
  std::vector<std::vector<double>> found;
  for (const Tensor& gradient : gradients) {
    const auto values = gradient.values<T>();
    found.emplace_back(values.begin(), values.end());
  }
  return found;
}

TEST(Conv, FloatGradientsAgreeWithDouble) {
  std::vector<Expected> cases = small_cases();
  for (Expected& large : large_cases()) cases.push_back(std::move(large));
  for (const auto& [at, y, pads_begin] : cases) {
    SCOPED_TRACE(onnx_shape_text(at.x) + " by " + onnx_shape_text(at.w));
    const std::vector<NodeInput> inputs = inputs_of<float>(at, true);
    const std::vector<NodeInput> other = inputs_of<float>(at, true, 21);
    std::vector<NodeInput> wide;
    std::vector<NodeInput> wide_other;
    for (size_t i = 0; i < inputs.size(); i++) {
      wide.push_back(widened(inputs[i]));
      wide_other.push_back(widened(other[i]));
    }
    const SingleNode node("Conv", attributes_of(at), inputs);
    const SingleNode wide_node("Conv", attributes_of(at), wide);
    for (const bool rescale : {false, true}) {
      // Starts from ones: kernels must add.
      const auto found = gradients_of<float>(node, rescale ? &other : nullptr, 1);
      const auto expected = gradients_of<double>(wide_node, rescale ? &wide_other : nullptr, 1);
      for (size_t i = 0; i < found.size(); i++) {
        size_t wrong = 0;
        for (size_t j = 0; j < found[i].size(); j++) {
          wrong += std::abs(found[i][j] - expected[i][j]) > 2e-4 * (1 + std::abs(expected[i][j]));
        }
        EXPECT_EQ(wrong, 0U) << "input " << i;
      }
    }
  }
}

TEST(Conv, GradientsThatNobodyWantsAreNotComputed) {
  const ConvCase at = small_cases()[3].at;
  const SingleNode node("Conv", attributes_of(at), inputs_of<float>(at, true));
  SingleNode::Run run = node.forward();
  const std::vector<void*> in = {nullptr, nullptr, nullptr};
  const std::vector<const void*> none = {nullptr};
  const std::vector<const void*> out = {run.outputs[0].raw()};
  node.kernel().backward(run.buffers(), {none, in});
  node.kernel().backward(run.buffers(), {out, in});
  node.kernel().rescale(run.buffers(), run.buffers(), {out, in});
}

// The last image of a batch, and the same image alone.
TEST(Conv, BitsOfAnImageDoNotDependOnTheOthers) {
  for (const Shape& w : {Shape{5, 3, 3, 3}, Shape{5, 3, 1, 1}}) {
    const NodeInput many = random_input<float>({3, 3, 11, 10}, 1);
    const auto values = many.tensor->values<float>();
    const NodeInput one = variable<float>({1, 3, 11, 10}, {values.begin() + 660, values.end()});
    const NodeInput weights = random_input<float>(w, 2);
    const SingleNode large("Conv", {}, {many, weights});
    const SingleNode small("Conv", {}, {one, weights});
    SingleNode::Run large_run = large.forward();
    SingleNode::Run small_run = small.forward();
    const size_t count = small_run.outputs[0].count();
    const auto last = [&](const Tensor& tensor, size_t elements) {
      const float* end = tensor.data<float>() + tensor.count();
      return std::vector<float>(end - elements, end);
    };
    EXPECT_EQ(last(large_run.outputs[0], count), last(small_run.outputs[0], count));
    const auto gradient = [&](const SingleNode& node, SingleNode::Run& run, const Tensor& input) {
      // The output itself stands for the derivative by it.
      Tensor by_input(OnnxElement::float32, input.dims());
      const std::vector<void*> in = {by_input.raw(), nullptr};
      const std::vector<const void*> out = {run.outputs[0].raw()};
      node.kernel().backward(run.buffers(), {out, in});
      return last(by_input, 330);
    };
    EXPECT_EQ(gradient(large, large_run, *many.tensor), gradient(small, small_run, *one.tensor));
  }
}

TEST(Conv, EmptyImages) {
  const SingleNode no_images("Conv", {}, {variable<float>({0, 1, 4, 4}, {}), random_input<float>({2, 1, 3, 3}, 1)});
  EXPECT_EQ(no_images.output_info(0)->dims, (Shape{0, 2, 2, 2}));
  EXPECT_EQ(gradients_of<float>(no_images, nullptr)[1], std::vector<double>(18, 0));
  const SingleNode no_channels(
      "Conv", {}, {variable<float>({1, 0, 2, 2}, {}), variable<float>({2, 0, 1, 2}, {}), variable<float>({2}, {3, 4})});
  const SingleNode::Run run = no_channels.forward();
  EXPECT_EQ(std::vector<float>(run.outputs[0].data<float>(), run.outputs[0].data<float>() + 4),
            (std::vector<float>{3, 3, 4, 4}));
}

TEST(Conv, Refusals) {
  const auto message = [](std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs) {
    return sentence([&] { const SingleNode node("Conv", std::move(attributes), std::move(inputs)); });
  };
  const NodeInput x = random_input<float>({1, 4, 5, 5}, 1);
  const NodeInput w = random_input<float>({2, 4, 3, 3}, 2);
  EXPECT_THAT(message({int_attribute("group", 2)}, {x, w}),
              HasSubstr("4 channels in 2 groups do not fit weights of 2 x 4 x 3 x 3"));
  EXPECT_THAT(message({int_attribute("group", 0)}, {x, w}), HasSubstr("in 0 groups"));
  EXPECT_THAT(message({int_attribute("group", 3)}, {x, w}), HasSubstr("in 3 groups"));
  EXPECT_THAT(message({int_attribute("group", std::numeric_limits<int64_t>::min())}, {x, w}), HasSubstr("groups"));
  EXPECT_THAT(message({ints_attribute("kernel_shape", {3, 2})}, {x, w}),
              HasSubstr("attribute 'kernel_shape' is 3 x 2, but the weights have 3 x 3"));
  EXPECT_THAT(message({}, {x, w, random_input<float>({3}, 3)}),
              HasSubstr("input 3 must have 2 elements, one for each output channel, found 3"));
  EXPECT_THAT(message({}, {x, random_input<float>({2, 4, 3}, 2)}), HasSubstr("input 2 must have 4 dimensions"));
  EXPECT_THAT(message({}, {random_input<float>({1, 4}, 1), w}), HasSubstr("input 1 must have 3 to 5 dimensions"));
  EXPECT_THAT(message({}, {x, random_input<double>({2, 4, 3, 3}, 2)}), HasSubstr("input 2 must be FLOAT"));
  EXPECT_THAT(message({}, {x, random_input<float>({2, 4, 6, 3}, 2)}), HasSubstr("its window spans 6 elements"));
  EXPECT_THAT(message({ints_attribute("pads", {1 << 20, 1 << 20, 1 << 20, 1 << 20})}, {x, w}), HasSubstr("at most"));
}

// Images so large that forward takes them in pieces: some channels, some lines of positions, and what is left of both.
TEST(Conv, PiecesAddUpToTheWhole) {
  for (const Shape& image : {Shape{1, 40, 16, 16}, Shape{1, 3, 101, 103}, Shape{2, 75, 9, 33}}) {
    const int64_t channels = image[1];
    const auto narrow = [](const NodeInput& wide) {
      const auto values = wide.tensor->values<double>();
      return variable<float>(wide.tensor->dims(), std::vector<float>(values.begin(), values.end()));
    };
    // Both see the same numbers: those that float32 holds.
    const auto widened = [](const NodeInput& input) {
      const auto values = input.tensor->values<float>();
      return variable<double>(input.tensor->dims(), std::vector<double>(values.begin(), values.end()));
    };
    const NodeInput x = narrow(random_input<double>(image, 1));
    const NodeInput w = narrow(random_input<double>({5, channels, 3, 3}, 2));
    const NodeInput b = narrow(random_input<double>({5}, 3));
    const SingleNode floats("Conv", {ints_attribute("pads", {1, 0, 1, 0})}, {x, w, b});
    const SingleNode doubles("Conv", {ints_attribute("pads", {1, 0, 1, 0})}, {widened(x), widened(w), widened(b)});
    const auto found = floats.forward();
    const auto expected = doubles.forward();
    for (size_t i = 0; i < expected.outputs[0].count(); i++) {
      ASSERT_NEAR(found.outputs[0].data<float>()[i], expected.outputs[0].data<double>()[i], 1e-3) << i;
    }
  }
}

}  // namespace
}  // namespace assay::testing

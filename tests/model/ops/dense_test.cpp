// Gemm and MatMul against sums written out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "assay/model/ops/dense_layer.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

// alpha * A' B' + beta * C in float64; c takes the strides of its broadcast.
template <class T>
std::vector<double> plain_gemm(const Tensor& a, const Tensor& b, const Tensor* c, bool ta, bool tb, double alpha,
                               double beta) {
  const auto rows_a = static_cast<size_t>(a.dims()[0]);
  const auto cols_a = static_cast<size_t>(a.dims()[1]);
  const auto cols_b = static_cast<size_t>(b.dims()[1]);
  const size_t m = ta ? cols_a : rows_a;
  const size_t k = ta ? rows_a : cols_a;
  const size_t n = tb ? static_cast<size_t>(b.dims()[0]) : cols_b;
  std::vector<double> y;
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t l = 0; l < k; l++) {
        sum += static_cast<double>(a.data<T>()[ta ? l * cols_a + i : i * cols_a + l]) *
               static_cast<double>(b.data<T>()[tb ? j * cols_b + l : l * cols_b + j]);
      }
      double start = 0;
      if (c != nullptr) {
        const Shape& dims = c->dims();
        const size_t row = dims.size() == 2 && dims[0] > 1 ? i : 0;
        const size_t col = !dims.empty() && dims.back() > 1 ? j : 0;
        start = static_cast<double>(c->data<T>()[row * (dims.empty() ? 1 : static_cast<size_t>(dims.back())) + col]);
      }
      y.push_back(alpha * sum + beta * start);
    }
  }
  return y;
}

NodeInput as_constant(NodeInput input) {
  input.constant = true;
  return input;
}

std::vector<OnnxAttribute> gemm_attributes(bool ta, bool tb, float alpha, float beta) {
  return {int_attribute("transA", ta ? 1 : 0), int_attribute("transB", tb ? 1 : 0), float_attribute("alpha", alpha),
          float_attribute("beta", beta)};
}

struct GemmCase {
  bool ta, tb;
  float alpha, beta;
  Shape c;  // {-1}: none
};
std::vector<GemmCase> gemm_cases(int64_t m, int64_t n) {
  std::vector<GemmCase> cases;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const Shape& c : {Shape{-1}, Shape{}, Shape{1}, Shape{n}, Shape{1, n}, Shape{m, 1}, Shape{m, n}}) {
        cases.push_back({ta, tb, 1, 1, c});
        cases.push_back({ta, tb, 0.5F, 1, c});
        cases.push_back({ta, tb, 1, -2, c});
      }
    }
  }
  return cases;
}
template <class T>
std::vector<NodeInput> gemm_inputs(const GemmCase& at, int64_t m, int64_t n, int64_t k) {
  std::vector<NodeInput> inputs = {random_input<T>(at.ta ? Shape{k, m} : Shape{m, k}, 1),
                                   random_input<T>(at.tb ? Shape{n, k} : Shape{k, n}, 2)};
  if (at.c != Shape{-1}) inputs.push_back(random_input<T>(at.c, 3));
  return inputs;
}

template <class T>
void expect_near(const Tensor& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.count(), expected.size());
  for (size_t i = 0; i < expected.size(); i++) {
    EXPECT_NEAR(static_cast<double>(found.data<T>()[i]), expected[i], tolerance * (1 + std::abs(expected[i]))) << i;
  }
}

TEST(Gemm, ComputesEveryFormOfIt) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{5, 3, 7}, {3, 1, 200}, {4, 70, 150}}) {
    for (const GemmCase& at : gemm_cases(m, n)) {
      for (const bool constant : {false, true}) {
        const auto attributes = gemm_attributes(at.ta, at.tb, at.alpha, at.beta);
        std::vector<NodeInput> inputs = gemm_inputs<float>(at, m, n, k);
        if (constant) inputs[1] = as_constant(inputs[1]);
        const SingleNode node("Gemm", attributes, inputs);
        EXPECT_EQ(node.output_info(0)->dims, (Shape{m, n}));
        const Tensor* c = inputs.size() > 2 ? inputs[2].tensor.get() : nullptr;
        expect_near<float>(node.forward().outputs[0],
                           plain_gemm<float>(*inputs[0].tensor, *inputs[1].tensor, c, at.ta, at.tb,
                                             static_cast<double>(at.alpha), static_cast<double>(at.beta)),
                           2e-5);
      }
    }
  }
}

TEST(Gemm, GradientsOfEveryForm) {
  for (const GemmCase& at : gemm_cases(3, 4)) {
    const SingleNode node("Gemm", gemm_attributes(at.ta, at.tb, at.alpha, at.beta), gemm_inputs<double>(at, 3, 4, 5));
    expect_gradients(node);
  }
  expect_gradients(SingleNode("Gemm", {}, gemm_inputs<double>({false, false, 1, 1, {1}}, 3, 1, 5)));
}

// The gradients of a node of these inputs, starting from zeros, for weights on its output.
std::vector<Tensor> all_gradients(const SingleNode& node, SingleNode::Run& run, OnnxElement type,
                                  SingleNode::Run* reference = nullptr) {
  const Tensor wide = output_weights(run.outputs[0]);
  Tensor weights(type, wide.dims());
  for (size_t i = 0; i < wide.count(); i++) {
    if (type == OnnxElement::float32)
      weights.data<float>()[i] = static_cast<float>(wide.data<double>()[i]);
    else
      weights.data<double>()[i] = static_cast<double>(static_cast<float>(wide.data<double>()[i]));
  }
  std::vector<Tensor> gradients;
  std::vector<void*> in;
  for (const NodeInput& input : node.inputs()) {
    gradients.push_back(input.tensor ? Tensor(type, input.tensor->dims()) : Tensor());
    in.push_back(input.tensor ? gradients.back().raw() : nullptr);
  }
  const std::vector<const void*> out = {weights.raw()};
  if (reference == nullptr)
    node.kernel().backward(run.buffers(), {out, in});
  else
    node.kernel().rescale(run.buffers(), reference->buffers(), {out, in});
  return gradients;
}

NodeInput widened(const NodeInput& input) {
  const auto values = input.tensor->values<float>();
  return variable<double>(input.tensor->dims(), std::vector<double>(values.begin(), values.end()));
}

// float32 gradients and multipliers agree with those of float64, which finite differences have checked.
void expect_float_like_double(const std::string& op, const std::vector<OnnxAttribute>& attributes,
                              const std::vector<NodeInput>& inputs, double tolerance) {
  std::vector<NodeInput> wide;
  std::vector<NodeInput> other;
  std::vector<NodeInput> wide_other;
  for (size_t i = 0; i < inputs.size(); i++) {
    wide.push_back(widened(inputs[i]));
    other.push_back(random_input<float>(inputs[i].tensor->dims(), 100 + i));
    wide_other.push_back(widened(other.back()));
  }
  const SingleNode narrow_node(op, attributes, inputs);
  const SingleNode wide_node(op, attributes, wide);
  SingleNode::Run narrow_run = narrow_node.forward();
  SingleNode::Run wide_run = wide_node.forward();
  SingleNode::Run narrow_base = narrow_node.forward(other);
  SingleNode::Run wide_base = wide_node.forward(wide_other);
  for (const bool rescale : {false, true}) {
    const auto found = all_gradients(narrow_node, narrow_run, OnnxElement::float32, rescale ? &narrow_base : nullptr);
    const auto expected = all_gradients(wide_node, wide_run, OnnxElement::float64, rescale ? &wide_base : nullptr);
    for (size_t i = 0; i < inputs.size(); i++) {
      const auto values = expected[i].values<double>();
      expect_near<float>(found[i], {values.begin(), values.end()}, tolerance);
    }
  }
}

TEST(Gemm, FloatGradientsAgreeWithDouble) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{5, 3, 7}, {150, 1, 130}, {7, 140, 70}}) {
    for (const GemmCase& at : gemm_cases(m, n)) {
      expect_float_like_double("Gemm", gemm_attributes(at.ta, at.tb, at.alpha, at.beta),
                               gemm_inputs<float>(at, m, n, k), 1e-4);
    }
  }
}

TEST(Gemm, RescaleIsCompleteWhereBothFactorsChange) {
  for (const GemmCase& at : gemm_cases(3, 4)) {
    const auto inputs = gemm_inputs<double>(at, 3, 4, 5);
    std::vector<NodeInput> reference;
    for (size_t i = 0; i < inputs.size(); i++) {
      reference.push_back(random_input<double>(inputs[i].tensor->dims(), 50 + i));
    }
    expect_rescale_complete(SingleNode("Gemm", gemm_attributes(at.ta, at.tb, at.alpha, at.beta), inputs), reference);
  }
  // A constant factor leaves a linear map: its multipliers are its derivatives.
  auto inputs = gemm_inputs<double>({false, true, 1, 1, {-1}}, 3, 4, 5);
  inputs[1] = as_constant(inputs[1]);
  auto reference = inputs;
  reference[0] = random_input<double>(inputs[0].tensor->dims(), 50);
  expect_rescale_complete(SingleNode("Gemm", gemm_attributes(false, true, 1, 1), inputs), reference);
}

// The first row of a batch of rows, and the same row alone.
TEST(Gemm, BitsOfARowDoNotDependOnTheOthers) {
  for (const bool constant : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const int64_t n : {1, 2, 10, 40}) {
        for (const int64_t k : {14, 130, 300}) {
          NodeInput b = random_input<float>(tb ? Shape{n, k} : Shape{k, n}, 2);
          if (constant) b = as_constant(b);
          const NodeInput c = random_input<float>({n}, 3);
          const NodeInput many = random_input<float>({37, k}, 1);
          const auto values = many.tensor->values<float>();
          const NodeInput one = variable<float>({1, k}, {values.begin(), values.begin() + k});
          const SingleNode large("Gemm", {int_attribute("transB", tb ? 1 : 0)}, {many, b, c});
          const SingleNode small("Gemm", {int_attribute("transB", tb ? 1 : 0)}, {one, b, c});
          SingleNode::Run large_run = large.forward();
          SingleNode::Run small_run = small.forward();
          const auto row = [&](const Tensor& tensor, int64_t count) {
            return std::vector<float>(tensor.data<float>(), tensor.data<float>() + count);
          };
          EXPECT_EQ(row(large_run.outputs[0], n), row(small_run.outputs[0], n));
          const auto gradient = [&](const SingleNode& node, SingleNode::Run& run) {
            return row(all_gradients(node, run, OnnxElement::float32)[0], k);
          };
          // output_weights starts with the same numbers for any number of rows.
          EXPECT_EQ(gradient(large, large_run), gradient(small, small_run));
        }
      }
    }
  }
}

TEST(Gemm, Integers) {
  const SingleNode node(
      "Gemm", {},
      {variable<int32_t>({1, 2}, {1 << 30, 3}), variable<int32_t>({2, 1}, {2, 5}), variable<int32_t>({1}, {1})});
  // 2^31 + 16 wraps around.
  EXPECT_EQ(node.forward().outputs[0].data<int32_t>()[0], std::numeric_limits<int32_t>::min() + 16);
  EXPECT_FALSE(node.kernel().differentiable(0));
  EXPECT_EQ(node.kernel().dense_layer(), nullptr);
}

TEST(Gemm, EmptyMatrices) {
  const auto none = [](Shape dims) { return variable<float>(std::move(dims), {}); };
  const SingleNode no_inner("Gemm", {}, {none({2, 0}), none({0, 3}), variable<float>({3}, {1, 2, 3})});
  expect_near<float>(no_inner.forward().outputs[0], {1, 2, 3, 1, 2, 3}, 0);
  SingleNode::Run run = no_inner.forward();
  EXPECT_NEAR(static_cast<double>(all_gradients(no_inner, run, OnnxElement::float32)[2].data<float>()[0]),
              output_weights(run.outputs[0]).data<double>()[0] + output_weights(run.outputs[0]).data<double>()[3],
              1e-6);
  const SingleNode no_rows("Gemm", {int_attribute("transB", 1)}, {none({0, 2}), random_input<float>({3, 2}, 1)});
  EXPECT_EQ(no_rows.forward().outputs[0].count(), 0U);
  SingleNode::Run empty = no_rows.forward();
  expect_near<float>(all_gradients(no_rows, empty, OnnxElement::float32)[1], {0, 0, 0, 0, 0, 0}, 0);
  const SingleNode huge("Gemm", {int_attribute("transB", 1)}, {none({0, 0}), as_constant(none({int64_t{1} << 26, 0}))});
  EXPECT_EQ(huge.forward().outputs[0].count(), 0U);
}

TEST(Gemm, Refusals) {
  const NodeInput a = random_input<float>({2, 3}, 1);
  const auto message = [](std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs) {
    return sentence([&] { const SingleNode node("Gemm", std::move(attributes), std::move(inputs)); });
  };
  EXPECT_THAT(message({}, {a, random_input<float>({2, 3}, 1)}),
              HasSubstr("the inner dimensions of its matrices must agree, found 2 x 3 and 2 x 3"));
  EXPECT_THAT(message({}, {a, random_input<float>({3}, 1)}), HasSubstr("input 2 must have 2 dimensions, found 1 (3)"));
  EXPECT_THAT(message({}, {a, random_input<double>({3, 2}, 1)}), HasSubstr("input 2 must be FLOAT, found DOUBLE"));
  EXPECT_THAT(message({}, {a, random_input<float>({3, 2}, 1), random_input<float>({3}, 1)}),
              HasSubstr("input 3 must fit into 2 x 2, found 3"));
  EXPECT_THAT(message({}, {a, random_input<float>({3, 2}, 1), random_input<float>({1, 2, 2}, 1)}),
              HasSubstr("input 3 must fit into 2 x 2, found 1 x 2 x 2"));
  EXPECT_THAT(message({}, {a}), HasSubstr("expected 2 to 3 inputs, found 1"));
  EXPECT_THAT(message({}, {variable<bool>({1, 1}, {true}), variable<bool>({1, 1}, {true})}),
              HasSubstr("input 1 must be FLOAT, DOUBLE or an integer of 32 or 64 bits, found BOOL"));
  EXPECT_THAT(message({float_attribute("alpha", 2)}, {variable<int64_t>({1, 1}, {1}), variable<int64_t>({1, 1}, {1})}),
              HasSubstr("attributes 'alpha' and 'beta' must be 1 for INT64, found 2 and 1"));
  const auto column = variable<float>({1 << 16, 0}, {});
  EXPECT_THAT(message({}, {column, variable<float>({0, 1 << 16}, {})}), HasSubstr("at most"));
}

TEST(Gemm, KnowsWhenItIsADenseLayer) {
  const NodeInput x = random_input<float>({5, 3}, 1);
  const NodeInput w = random_input<float>({4, 3}, 2);
  const SingleNode node("Gemm", {int_attribute("transB", 1)}, {x, w, random_input<float>({4}, 3)});
  const DenseLayer* layer = node.kernel().dense_layer();
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->inputs, 3U);
  EXPECT_EQ(layer->outputs, 4U);
  EXPECT_EQ(layer->weight_input, 1U);
  EXPECT_EQ(layer->bias_input, 2U);
  EXPECT_EQ(layer->input_stride, 1U);
  EXPECT_EQ(layer->output_stride, 3U);
  const NodeInput straight = random_input<float>({3, 4}, 2);
  const auto layer_of = [](std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs) {
    const SingleNode made("Gemm", std::move(attributes), std::move(inputs));
    return made.kernel().dense_layer() != nullptr;
  };
  EXPECT_TRUE(layer_of({}, {x, straight}));
  EXPECT_TRUE(layer_of({}, {x, as_constant(straight), random_input<float>({1, 4}, 3)}));
  EXPECT_TRUE(layer_of({}, {x, random_input<float>({3, 1}, 2), random_input<float>({1}, 3)}));
  EXPECT_FALSE(layer_of({}, {as_constant(x), straight}));
  EXPECT_FALSE(layer_of({}, {x, straight, random_input<float>({5, 4}, 3)}));
  EXPECT_FALSE(layer_of({}, {x, straight, random_input<float>({5, 1}, 3)}));
  EXPECT_FALSE(layer_of({}, {x, straight, random_input<float>({1}, 3)}));
  EXPECT_FALSE(layer_of({}, {x, straight, random_input<float>({}, 3)}));
  EXPECT_FALSE(layer_of({float_attribute("alpha", 2)}, {x, straight}));
  EXPECT_FALSE(layer_of({float_attribute("beta", 2)}, {x, straight}));
  EXPECT_FALSE(layer_of({int_attribute("transA", 1)}, {x, random_input<float>({5, 4}, 2)}));
  EXPECT_FALSE(layer_of({}, {random_input<double>({5, 3}, 1), random_input<double>({3, 4}, 1)}));
}

// Shapes of A, B and of their product.
struct MatMulCase {
  Shape a, b, y;
};
std::vector<MatMulCase> matmul_cases() {
  return {{{3, 4}, {4, 2}, {3, 2}},
          {{4}, {4, 2}, {2}},
          {{3, 4}, {4}, {3}},
          {{4}, {4}, {}},
          {{2, 3, 4}, {4, 5}, {2, 3, 5}},
          {{2, 3, 4}, {2, 4, 5}, {2, 3, 5}},
          {{3, 4}, {2, 4, 5}, {2, 3, 5}},
          {{4}, {2, 4, 5}, {2, 5}},
          {{2, 3, 4}, {4}, {2, 3}},
          {{2, 1, 3, 4}, {3, 4, 2}, {2, 3, 3, 2}},
          {{2, 1, 2, 1, 3}, {3, 1, 3, 1}, {2, 3, 2, 1, 1}}};
}

// numpy.matmul, index by index.
template <class T>
std::vector<double> plain_matmul(const Tensor& a, const Tensor& b, const Shape& y) {
  Shape dims_a = a.dims();
  Shape dims_b = b.dims();
  Shape dims_y = y;
  if (dims_b.size() == 1) {
    dims_b.push_back(1);
    dims_y.push_back(1);
  }
  if (dims_a.size() == 1) {
    dims_a.insert(dims_a.begin(), 1);
    dims_y.insert(dims_y.end() - 1, 1);
  }
  const auto offset = [](const Shape& dims, const std::vector<int64_t>& index) {
    size_t at = 0;
    const size_t skip = index.size() - dims.size();
    for (size_t i = 0; i < dims.size(); i++) {
      at = at * static_cast<size_t>(dims[i]) + (dims[i] == 1 ? 0 : static_cast<size_t>(index[skip + i]));
    }
    return at;
  };
  std::vector<double> found;
  for (size_t flat = 0; flat < element_count(dims_y); flat++) {
    std::vector<int64_t> index(dims_y.size());
    size_t rest = flat;
    for (size_t i = dims_y.size(); i-- > 0;) {
      index[i] = static_cast<int64_t>(rest) % dims_y[i];
      rest /= static_cast<size_t>(dims_y[i]);
    }
    double sum = 0;
    for (int64_t l = 0; l < dims_a.back(); l++) {
      std::vector<int64_t> at_a = index;
      at_a.back() = l;
      std::vector<int64_t> at_b = index;
      at_b[at_b.size() - 2] = l;
      sum += static_cast<double>(a.data<T>()[offset(dims_a, at_a)]) *
             static_cast<double>(b.data<T>()[offset(dims_b, at_b)]);
    }
    found.push_back(sum);
  }
  return found;
}

TEST(MatMul, FollowsNumpy) {
  for (const MatMulCase& at : matmul_cases()) {
    const NodeInput a = random_input<float>(at.a, 1);
    const NodeInput b = random_input<float>(at.b, 2);
    const SingleNode node("MatMul", {}, {a, b});
    EXPECT_EQ(node.output_info(0)->dims, at.y);
    expect_near<float>(node.forward().outputs[0], plain_matmul<float>(*a.tensor, *b.tensor, at.y), 1e-5);
    const SingleNode wide("MatMul", {}, {widened(a), widened(b)});
    expect_near<double>(wide.forward().outputs[0], plain_matmul<float>(*a.tensor, *b.tensor, at.y), 1e-12);
  }
}

TEST(MatMul, GradientsAndMultipliers) {
  for (const MatMulCase& at : matmul_cases()) {
    SCOPED_TRACE(onnx_shape_text(at.a) + " times " + onnx_shape_text(at.b));
    const SingleNode node("MatMul", {}, {random_input<double>(at.a, 1), random_input<double>(at.b, 2)});
    expect_gradients(node);
    expect_rescale_complete(node, {random_input<double>(at.a, 3), random_input<double>(at.b, 4)});
    expect_float_like_double("MatMul", {}, {random_input<float>(at.a, 1), random_input<float>(at.b, 2)}, 1e-4);
  }
  expect_float_like_double("MatMul", {}, {random_input<float>({9, 140}, 1), random_input<float>({140, 33}, 2)}, 1e-4);
}

TEST(MatMul, Integers) {
  const SingleNode node(
      "MatMul", {},
      {variable<int64_t>({1, 2}, {std::numeric_limits<int64_t>::max(), 1}), variable<int64_t>({2}, {2, 7})});
  EXPECT_EQ(node.forward().outputs[0].data<int64_t>()[0], 5);
}

TEST(MatMul, EmptyMatrices) {
  const SingleNode no_inner("MatMul", {}, {variable<float>({2, 0}, {}), variable<float>({3, 0, 1}, {})});
  expect_near<float>(no_inner.forward().outputs[0], {0, 0, 0, 0, 0, 0}, 0);
  const SingleNode no_batch("MatMul", {}, {random_input<float>({1, 2, 3}, 1), variable<float>({0, 3, 4}, {})});
  EXPECT_EQ(no_batch.output_info(0)->dims, (Shape{0, 2, 4}));
  SingleNode::Run run = no_batch.forward();
  expect_near<float>(all_gradients(no_batch, run, OnnxElement::float32)[0], {0, 0, 0, 0, 0, 0}, 0);
}

TEST(MatMul, Refusals) {
  const auto message = [](Shape a, Shape b) {
    return sentence([&] {
      const SingleNode node("MatMul", {}, {random_input<float>(std::move(a), 1), random_input<float>(std::move(b), 2)});
    });
  };
  EXPECT_THAT(message({2, 3}, {2, 3}),
              HasSubstr("the inner dimensions of its matrices must agree, found 2 x 3 and 2 x 3"));
  EXPECT_THAT(message({2, 2, 3}, {3, 3, 3}),
              HasSubstr("the dimensions before those of its matrices must agree, found 2 x 2 x 3 and 3 x 3 x 3"));
  EXPECT_THAT(message({}, {3}), HasSubstr("input 1 must have 1 to 64 dimensions, found 0"));
}

TEST(MatMul, KnowsWhenItIsADenseLayer) {
  const auto layer_of = [](Shape a, Shape b) {
    const SingleNode node("MatMul", {}, {random_input<float>(std::move(a), 1), random_input<float>(std::move(b), 2)});
    const DenseLayer* layer = node.kernel().dense_layer();
    return layer == nullptr ? std::vector<size_t>()
                            : std::vector<size_t>{layer->inputs, layer->outputs, layer->input_stride,
                                                  layer->output_stride, layer->bias_input};
  };
  EXPECT_EQ(layer_of({5, 3}, {3, 4}), (std::vector<size_t>{3, 4, 4, 1, DenseLayer::kNone}));
  EXPECT_TRUE(layer_of({2, 5, 3}, {3, 4}).empty());
  EXPECT_TRUE(layer_of({5, 3}, {3}).empty());
  EXPECT_TRUE(layer_of({5, 3}, {2, 3, 4}).empty());
}

}  // namespace
}  // namespace assay::testing

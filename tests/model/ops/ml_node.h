// One node of ai.onnx.ml alone. Many of its operators give float32 whatever their input is, so their derivatives by
// float64 inputs are held against differences of float32 outputs, with wide steps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/model/ops/single_node.h"

namespace assay::testing {

inline SingleNode ml_node(std::string op, std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs,
                          size_t outputs = 1, int64_t opset = 3) {
  return SingleNode(std::move(op), std::move(attributes), std::move(inputs), outputs, opset, "ai.onnx.ml");
}

inline OnnxAttribute tensor_attribute(std::string name, OnnxTensor tensor) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::one_tensor;
  attribute.tensors.push_back(std::move(tensor));
  return attribute;
}
// A list of numbers as a tensor of their type.
template <class T>
OnnxTensor tensor_of(const std::vector<T>& values) {
  OnnxTensor tensor;
  tensor.type = element_of<T>();
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.raw.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return tensor;
}

template <class T>
std::vector<T> output_of(const SingleNode& node, size_t output = 0) {
  const SingleNode::Run run = node.forward();
  const auto values = run.outputs.at(output).values<T>();
  return {values.begin(), values.end()};
}

inline double scalar_of(const Tensor& output, const Tensor& weights) {
  double total = 0;
  for (size_t i = 0; i < output.count(); i++) {
    total += static_cast<double>(output.data<float>()[i]) * static_cast<double>(weights.data<float>()[i]);
  }
  return total;
}
inline Tensor float_weights(const Tensor& output) {
  const Tensor wide = output_weights(output);
  Tensor weights(OnnxElement::float32, output.dims());
  for (size_t i = 0; i < weights.count(); i++) weights.data<float>()[i] = static_cast<float>(wide.data<double>()[i]);
  return weights;
}

// backward of a float32 output by float64 inputs against central differences; gradients start from ones.
inline void expect_float_gradients(const SingleNode& node, size_t output = 0, double step = 1e-2,
                                   double tolerance = 3e-4) {
  SingleNode::Run run = node.forward();
  const Tensor weights = float_weights(run.outputs[output]);
  size_t checked = 0;
  for (size_t which = 0; which < node.inputs().size(); which++) {
    const NodeInput& input = node.inputs()[which];
    if (input.constant || !node.kernel().differentiable(which)) continue;
    Tensor gradient(OnnxElement::float64, input.tensor->dims());
    for (size_t i = 0; i < gradient.count(); i++) gradient.data<double>()[i] = 1;
    std::vector<void*> in(node.inputs().size(), nullptr);
    in[which] = gradient.raw();
    std::vector<const void*> out(run.outputs.size(), nullptr);
    // Nobody wants it: nothing may happen.
    node.kernel().backward(run.buffers(), {out, in});
    out[output] = weights.raw();
    node.kernel().backward(run.buffers(), {out, std::vector<void*>(in.size(), nullptr)});
    node.kernel().backward(run.buffers(), {out, in});
    for (size_t i = 0; i < gradient.count(); i++, checked++) {
      const auto moved = [&](double by) {
        std::vector<double> values(input.tensor->data<double>(), input.tensor->data<double>() + input.tensor->count());
        values[i] += by;
        std::vector<NodeInput> inputs = node.inputs();
        inputs[which] = variable<double>(input.tensor->dims(), values);
        return scalar_of(node.forward(inputs).outputs[output], weights);
      };
      const double expected = (moved(step) - moved(-step)) / (2 * step);
      EXPECT_NEAR(gradient.data<double>()[i] - 1, expected, tolerance * (1 + std::abs(expected)))
          << "input " << which << " element " << i;
    }
  }
  EXPECT_GT(checked, 0U);
}

// DeepLift's completeness of a float32 output, by one float64 input.
inline void expect_float_complete(const SingleNode& node, const NodeInput& reference, size_t output = 0,
                                  double tolerance = 1e-6) {
  SingleNode::Run run = node.forward();
  SingleNode::Run base = node.forward({reference});
  const Tensor weights = float_weights(run.outputs[output]);
  const double expected = scalar_of(run.outputs[output], weights) - scalar_of(base.outputs[output], weights);
  const Tensor& x = *node.inputs()[0].tensor;
  Tensor multipliers(OnnxElement::float64, x.dims());
  std::vector<const void*> out(run.outputs.size(), nullptr);
  out[output] = weights.raw();
  void* in = multipliers.raw();
  node.kernel().rescale(run.buffers(), base.buffers(), {out, {&in, 1}});
  double found = 0;
  for (size_t i = 0; i < x.count(); i++) {
    found += multipliers.data<double>()[i] * (x.data<double>()[i] - reference.tensor->data<double>()[i]);
  }
  EXPECT_NEAR(found, expected, tolerance * (1 + std::abs(expected)));
}

}  // namespace assay::testing

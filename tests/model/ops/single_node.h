// One node alone: run it, and hold its derivatives and DeepLift multipliers against definitions.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/operators.h"

namespace assay::testing {

inline OnnxAttribute int_attribute(std::string name, int64_t value) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::one_int;
  attribute.ints = {value};
  return attribute;
}
inline OnnxAttribute ints_attribute(std::string name, std::vector<int64_t> values) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::ints;
  attribute.ints = std::move(values);
  return attribute;
}
inline OnnxAttribute float_attribute(std::string name, float value) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::one_float;
  attribute.floats = {value};
  return attribute;
}
inline OnnxAttribute floats_attribute(std::string name, std::vector<float> values) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::floats;
  attribute.floats = std::move(values);
  return attribute;
}
inline OnnxAttribute text_attribute(std::string name, std::string value) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::one_string;
  attribute.strings = {std::move(value)};
  return attribute;
}
inline OnnxAttribute texts_attribute(std::string name, std::vector<std::string> values) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::strings;
  attribute.strings = std::move(values);
  return attribute;
}

// An input: a tensor (null: left out), and whether it is known when the plan is made.
struct NodeInput {
  std::shared_ptr<const Tensor> tensor;
  bool constant = false;
};
template <class T>
NodeInput variable(Shape dims, const std::vector<T>& values) {
  return {std::make_shared<Tensor>(Tensor::of<T>(std::move(dims), values)), false};
}
template <class T>
NodeInput constant(Shape dims, const std::vector<T>& values) {
  return {std::make_shared<Tensor>(Tensor::of<T>(std::move(dims), values)), true};
}
inline NodeInput left_out() { return {}; }
// Values spread evenly over (low, high), the same ones for the same seed.
template <class T>
NodeInput random_input(Shape dims, uint64_t seed, double low = -2, double high = 2) {
  std::vector<T> values(element_count(dims));
  RandomStream stream(seed, "single node test", 0);
  for (T& value : values) value = static_cast<T>(low + (high - low) * stream.uniform());
  return variable<T>(std::move(dims), values);
}

// A kernel with buffers for its values, made from a node.
class SingleNode {
 public:
  SingleNode(std::string op, std::vector<OnnxAttribute> attributes, std::vector<NodeInput> inputs, size_t outputs = 1,
             int64_t opset = 17, std::string domain = "")
      : inputs_(std::move(inputs)) {
    node_.op_type = std::move(op);
    node_.domain = std::move(domain);
    node_.attributes = std::move(attributes);
    for (size_t i = 0; i < inputs_.size(); i++) node_.inputs.push_back(inputs_[i].tensor ? "in" : "");
    for (size_t i = 0; i < outputs; i++) node_.outputs.push_back("out" + std::to_string(i));
    std::vector<const ValueInfo*> known;
    infos_.resize(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); i++) {
      if (inputs_[i].tensor == nullptr) {
        known.push_back(nullptr);
        continue;
      }
      infos_[i] = {inputs_[i].tensor->type(), inputs_[i].tensor->dims(),
                   inputs_[i].constant ? inputs_[i].tensor : nullptr};
      known.push_back(&infos_[i]);
    }
    const Operator* found = find_operator(node_.domain, node_.op_type);
    if (found == nullptr) throw std::runtime_error("no operator " + node_.op_type);
    NodeSetup setup(node_, opset, "test: " + node_label(node_, 1), known, size_t{1} << 28);
    kernel_ = found->make(setup);
    for (const auto& info : setup.outputs()) outputs_.push_back(info ? std::optional(*info) : std::nullopt);
  }

  const Kernel& kernel() const { return *kernel_; }
  const std::vector<NodeInput>& inputs() const { return inputs_; }
  const std::optional<ValueInfo>& output_info(size_t i) const { return outputs_.at(i); }

  struct Run {
    std::vector<NodeInput> inputs;  // held for as long as the pointers below
    std::vector<const void*> in;
    std::vector<Tensor> outputs;
    std::vector<void*> out;
    std::shared_ptr<Tensor> state;
    std::shared_ptr<Tensor> scratch;
    Buffers buffers() {
      return {in, out, static_cast<std::byte*>(state->raw()), static_cast<std::byte*>(scratch->raw())};
    }
  };
  // Runs forward on these inputs (of the same types and dimensions as those of the node).
  Run forward(const std::vector<NodeInput>& inputs) const {
    Run run;
    run.inputs = inputs;
    for (const NodeInput& input : inputs) run.in.push_back(input.tensor ? input.tensor->raw() : nullptr);
    for (const auto& info : outputs_) run.outputs.push_back(info ? Tensor(info->type, info->dims) : Tensor());
    for (size_t i = 0; i < outputs_.size(); i++) run.out.push_back(outputs_[i] ? run.outputs[i].raw() : nullptr);
    const auto bytes = [](size_t n) {
      return std::make_shared<Tensor>(OnnxElement::uint8, Shape{static_cast<int64_t>(n)});
    };
    run.state = bytes(kernel_->state_bytes());
    run.scratch = bytes(kernel_->scratch_bytes());
    kernel_->forward(run.buffers());
    return run;
  }
  Run forward() const { return forward(inputs_); }

 private:
  OnnxNode node_;
  std::vector<NodeInput> inputs_;
  std::vector<ValueInfo> infos_;
  std::vector<std::optional<ValueInfo>> outputs_;
  std::unique_ptr<Kernel> kernel_;
};

// Fixed weights that make one scalar of output 0.
inline Tensor output_weights(const Tensor& output, uint64_t seed = 7) {
  Tensor weights(OnnxElement::float64, output.dims());
  RandomStream stream(seed, "output weights", 0);
  for (size_t i = 0; i < weights.count(); i++) weights.data<double>()[i] = 2 * stream.uniform() - 1;
  return weights;
}

// backward of a node of float64 inputs against central differences of forward, for every differentiable input that is
// not constant. Expects at least one. Inputs must lie away from kinks by more than `step`.
inline void expect_gradients(const SingleNode& node, double step = 1e-5, double tolerance = 1e-6) {
  SingleNode::Run run = node.forward();
  const Tensor weights = output_weights(run.outputs[0]);
  const auto scalar = [&](const std::vector<NodeInput>& inputs) {
    const SingleNode::Run at = node.forward(inputs);
    double total = 0;
    for (size_t i = 0; i < weights.count(); i++) total += weights.data<double>()[i] * at.outputs[0].data<double>()[i];
    return total;
  };
  size_t checked = 0;
  for (size_t which = 0; which < node.inputs().size(); which++) {
    const NodeInput& input = node.inputs()[which];
    if (!input.tensor || input.constant || !node.kernel().differentiable(which)) continue;
    checked++;
    // Starts from ones: kernels must add.
    Tensor gradient(OnnxElement::float64, input.tensor->dims());
    for (size_t i = 0; i < gradient.count(); i++) gradient.data<double>()[i] = 1;
    std::vector<void*> in(node.inputs().size(), nullptr);
    in[which] = gradient.raw();
    std::vector<const void*> out(run.outputs.size(), nullptr);
    out[0] = weights.raw();
    node.kernel().backward(run.buffers(), {out, in});
    for (size_t i = 0; i < gradient.count(); i++) {
      const auto moved = [&](double by) {
        std::vector<double> values(input.tensor->data<double>(), input.tensor->data<double>() + input.tensor->count());
        values[i] += by;
        std::vector<NodeInput> inputs = node.inputs();
        inputs[which] = variable<double>(input.tensor->dims(), values);
        return scalar(inputs);
      };
      const double expected = (moved(step) - moved(-step)) / (2 * step);
      const double found = gradient.data<double>()[i] - 1;
      EXPECT_NEAR(found, expected, tolerance * (1 + std::abs(expected))) << "input " << which << " element " << i;
    }
  }
  EXPECT_GT(checked, 0U);
}

// DeepLift's completeness: sum of multiplier * difference over the variable inputs equals that over output 0.
inline void expect_rescale_complete(const SingleNode& node, const std::vector<NodeInput>& reference,
                                    double tolerance = 1e-9) {
  SingleNode::Run run = node.forward();
  SingleNode::Run base = node.forward(reference);
  const Tensor weights = output_weights(run.outputs[0]);
  double expected = 0;
  for (size_t i = 0; i < weights.count(); i++) {
    expected += weights.data<double>()[i] * (run.outputs[0].data<double>()[i] - base.outputs[0].data<double>()[i]);
  }
  std::vector<Tensor> gradients;
  std::vector<void*> in;
  for (size_t which = 0; which < node.inputs().size(); which++) {
    const NodeInput& input = node.inputs()[which];
    const bool wanted = input.tensor && !input.constant && node.kernel().differentiable(which);
    gradients.push_back(wanted ? Tensor(OnnxElement::float64, input.tensor->dims()) : Tensor());
    in.push_back(wanted ? gradients.back().raw() : nullptr);
  }
  std::vector<const void*> out(run.outputs.size(), nullptr);
  out[0] = weights.raw();
  node.kernel().rescale(run.buffers(), base.buffers(), {out, in});
  double found = 0;
  for (size_t which = 0; which < in.size(); which++) {
    if (in[which] == nullptr) continue;
    for (size_t i = 0; i < gradients[which].count(); i++) {
      found += gradients[which].data<double>()[i] *
               (node.inputs()[which].tensor->data<double>()[i] - reference[which].tensor->data<double>()[i]);
    }
  }
  EXPECT_NEAR(found, expected, tolerance * (1 + std::abs(expected)));
}

}  // namespace assay::testing

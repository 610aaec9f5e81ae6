#include "assay/model/graph/fold.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/error.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/operators.h"

namespace assay {

MadeKernel make_kernel(const GraphNode& node, const std::vector<const ValueInfo*>& inputs, size_t most_bytes,
                       bool gradients) {
  NodeSetup setup(node.onnx, node.opset, node.where, inputs, most_bytes, gradients, node.shared.get());
  MadeKernel made;
  made.kernel = node.op->make(setup);
  made.outputs = setup.outputs();
  for (size_t i = 0; i < made.outputs.size(); i++) {
    // Kernels set all outputs they have; a file may ask for more.
    if (!made.outputs[i] && setup.wants_output(i)) setup.fail(fmt::format("it has no output {}", i + 1));
  }
  return made;
}

std::vector<std::shared_ptr<const Tensor>> fold(const GraphNode& node, const MadeKernel& made,
                                                const std::vector<const ValueInfo*>& inputs, Spending& spending) {
  spending.at(node.where);
  std::vector<const void*> in;
  uint64_t steps = further_steps(*made.kernel);
  size_t longest = 0;
  for (const ValueInfo* input : inputs) {
    const Tensor* constant = input == nullptr ? nullptr : input->constant.get();
    in.push_back(constant == nullptr ? nullptr : constant->raw());
    if (constant == nullptr) continue;
    steps = saturated_sum(steps, constant->count());
    if (constant->type() != OnnxElement::string) continue;
    for (const std::string& text : constant->values<std::string>()) longest = std::max(longest, text.size());
  }
  uint64_t bytes = 0;
  for (const auto& info : made.outputs) {
    if (!info) continue;
    steps = saturated_sum(steps, info->count());
    // Any text of the inputs may come out again and again.
    const bool text = info->type == OnnxElement::string;
    bytes += uint64_t{info->count()} * (element_size(info->type) + (text ? longest : 0));
  }
  if (steps > kMostStepsAtOnce) {
    fail_input(fmt::format("{}: it depends on weights alone, and computing it takes {} steps; at most {} are allowed",
                           node.where, steps, kMostStepsAtOnce));
  }
  spending.take_steps(steps);
  const uint64_t meanwhile = made.kernel->state_bytes() + made.kernel->scratch_bytes() + held_bytes(*made.kernel);
  spending.take_bytes(bytes + meanwhile);
  std::vector<std::shared_ptr<const Tensor>> results;
  std::vector<void*> out;
  for (const auto& info : made.outputs) {
    auto tensor = info ? std::make_shared<Tensor>(info->type, info->dims) : nullptr;
    out.push_back(tensor ? tensor->raw() : nullptr);
    results.push_back(std::move(tensor));
  }
  const auto buffer = [](size_t count) { return Tensor(OnnxElement::uint8, {static_cast<int64_t>(count)}); };
  Tensor state = buffer(made.kernel->state_bytes());
  Tensor scratch = buffer(made.kernel->scratch_bytes());
  made.kernel->forward({in, out, static_cast<std::byte*>(state.raw()), static_cast<std::byte*>(scratch.raw())});
  spending.give_back_bytes(meanwhile);
  return results;
}

}  // namespace assay

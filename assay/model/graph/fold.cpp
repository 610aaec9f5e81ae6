#include "assay/model/graph/fold.h"

#include <fmt/format.h>

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

std::vector<std::shared_ptr<const Tensor>> fold(const MadeKernel& made, const std::vector<const ValueInfo*>& inputs) {
  std::vector<const void*> in;
  for (const ValueInfo* input : inputs) {
    in.push_back(input == nullptr || input->constant == nullptr ? nullptr : input->constant->raw());
  }
  std::vector<std::shared_ptr<const Tensor>> results;
  std::vector<void*> out;
  for (const auto& info : made.outputs) {
    auto tensor = info ? std::make_shared<Tensor>(info->type, info->dims) : nullptr;
    out.push_back(tensor ? tensor->raw() : nullptr);
    results.push_back(std::move(tensor));
  }
  const auto bytes = [](size_t count) { return Tensor(OnnxElement::uint8, {static_cast<int64_t>(count)}); };
  Tensor state = bytes(made.kernel->state_bytes());
  Tensor scratch = bytes(made.kernel->scratch_bytes());
  made.kernel->forward({in, out, static_cast<std::byte*>(state.raw()), static_cast<std::byte*>(scratch.raw())});
  return results;
}

}  // namespace assay

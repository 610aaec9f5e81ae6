// A node's kernel, and its outputs when all it depends on is known: for the graph and for plans.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "assay/model/graph/graph.h"
#include "assay/model/ops/kernel.h"

namespace assay {

struct MadeKernel {
  std::unique_ptr<Kernel> kernel;
  std::vector<std::optional<ValueInfo>> outputs;
};

// inputs: null where left out. An input error when the node cannot run with them.
MadeKernel make_kernel(const GraphNode& node, const std::vector<const ValueInfo*>& inputs, size_t most_bytes,
                       bool gradients);

// Runs a kernel whose inputs are constants (or that does not look at their elements: null is passed for those without).
std::vector<std::shared_ptr<const Tensor>> fold(const MadeKernel& made, const std::vector<const ValueInfo*>& inputs);

}  // namespace assay

// Makes a node's kernel, and computes its outputs if all its inputs are known: for the graph and for plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "assay/core/budget.h"
#include "assay/model/graph/graph.h"
#include "assay/model/ops/kernel.h"

namespace assay {

struct MadeKernel {
  std::unique_ptr<Kernel> kernel;
  std::vector<std::optional<ValueInfo>> outputs;
};

// inputs: null where left out. An input error when the node cannot run with them, or one value or table of it takes
// more than most_bytes.
MadeKernel make_kernel(const GraphNode& node, const std::vector<const ValueInfo*>& inputs, size_t most_bytes,
                       bool gradients);

// The most steps of a node that is folded, which cannot be interrupted: about a product of two 1600 x 1600 matrices.
inline constexpr uint64_t kMostStepsAtOnce = uint64_t{1} << 32;

// Runs a kernel whose inputs are constants. An input that is none is passed as null; the kernel must not read its
// elements. Steps and the memory of outputs are charged first; scratch memory is charged and given back.
std::vector<std::shared_ptr<const Tensor>> fold(const GraphNode& node, const MadeKernel& made,
                                                const std::vector<const ValueInfo*>& inputs, Spending& spending);

}  // namespace assay

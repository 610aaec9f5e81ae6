// For tests of operators whose inputs broadcast: what a node computes, its derivatives, and the definition of
// broadcasting.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "tests/model/ops/single_node.h"

namespace assay::testing {

// The element of `tensor` that an output's element (its position counted row by row) sees, by definition.
inline size_t broadcast_index(const Shape& own, const Shape& output, size_t position) {
  size_t index = 0;
  size_t stride = 1;
  for (size_t back = 1; back <= output.size(); back++) {
    const auto size = static_cast<size_t>(output[output.size() - back]);
    const size_t at = position % size;
    position /= size;
    if (back > own.size()) continue;
    const auto own_size = static_cast<size_t>(own[own.size() - back]);
    if (own_size != 1) index += at * stride;
    stride *= own_size;
  }
  return index;
}

// Runs a node and returns all it computed.
template <class Y, class T>
std::vector<Y> computed(const std::string& op, const std::vector<std::vector<T>>& inputs, int64_t opset = 17) {
  std::vector<NodeInput> given;
  for (const auto& values : inputs) given.push_back(variable<T>({static_cast<int64_t>(values.size())}, values));
  const SingleNode node(op, {}, given, 1, opset);
  EXPECT_EQ(node.output_info(0)->type, element_of<Y>());
  if (!std::is_floating_point_v<T>) {
    EXPECT_FALSE(node.kernel().differentiable(0));
  }
  const auto run = node.forward();
  const auto y = run.outputs[0].template values<Y>();
  return {y.begin(), y.end()};
}

// The derivative (or, with a reference, the DeepLift multiplier) of the sum of the output by each input.
inline std::vector<std::vector<double>> derivatives(const SingleNode& node,
                                                    const std::vector<NodeInput>* reference = nullptr) {
  auto run = node.forward();
  const std::vector<double> ones(run.outputs[0].count(), 1.0);
  std::vector<std::vector<double>> result;
  for (const NodeInput& input : node.inputs()) result.emplace_back(input.tensor ? input.tensor->count() : 0, 0.0);
  std::vector<void*> in;
  for (size_t i = 0; i < result.size(); i++) in.push_back(node.kernel().differentiable(i) ? result[i].data() : nullptr);
  const void* out = ones.data();
  if (reference == nullptr) {
    node.kernel().backward(run.buffers(), {{&out, 1}, in});
  } else {
    auto base = node.forward(*reference);
    node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, in});
  }
  return result;
}
using Table = std::vector<std::vector<double>>;

}  // namespace assay::testing

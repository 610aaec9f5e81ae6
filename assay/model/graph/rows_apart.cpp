#include "assay/model/graph/rows_apart.h"

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, op) != list.end();
}

// A constant that is the same for all rows when it is spread over values of at least two dimensions.
bool same_for_all_rows(const Tensor& constant) {
  const Shape& dims = constant.dims();
  return dims.size() <= 1 || (dims.size() == 2 && dims[0] == 1);
}

// Input 0 is the only one that changes, and it has the row first, among at least two dimensions; so has the output.
bool keeps_rows(const Graph& graph, const GraphNode& node) {
  const std::string& op = node.onnx.op_type;
  const auto constant = [&](size_t i) {
    return i < node.inputs.size() && node.inputs[i] != kNoValue ? graph.constant(node.inputs[i]).get() : nullptr;
  };
  if (is_one_of(op, {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Identity", "Abs", "Neg", "Exp",
                     "Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "BatchNormalization"})) {
    return true;
  }
  if (op == "Flatten") return node.onnx.int_attribute("axis", 1) == 1;
  // The row is neither the last of several dimensions nor the second.
  if (op == "Softmax" || op == "LogSoftmax") {
    const int64_t axis = node.onnx.int_attribute("axis", node.opset < 13 ? 1 : -1);
    return axis == 1 || axis == -1;
  }
  if (op == "MatMul") return constant(1) != nullptr && constant(1)->dims().size() == 2;
  if (op == "Gemm") {
    const Tensor* bias = constant(2);
    return node.onnx.int_attribute("transA", 0) == 0 && (bias == nullptr || same_for_all_rows(*bias));
  }
  return op == "Add" && constant(1) != nullptr && same_for_all_rows(*constant(1));
}

}  // namespace

bool keeps_rows_apart(const Graph& graph, const std::vector<std::string>& fetches) {
  std::vector<bool> seen(graph.nodes().size(), false);
  std::vector<size_t> open;
  for (const std::string& fetch : fetches) open.push_back(graph.find_value(fetch));
  while (!open.empty()) {
    const size_t value = open.back();
    open.pop_back();
    if (value == kNoValue) return false;
    const size_t n = graph.producer_of(value);
    if (n == kNoValue || seen[n]) continue;
    seen[n] = true;
    const GraphNode& node = graph.nodes()[n];
    const bool one_result = node.outputs.size() == 1 && !node.inputs.empty() && node.inputs[0] != kNoValue;
    if (!one_result || !node.onnx.domain.empty() || graph.constant(node.inputs[0]) != nullptr) return false;
    for (size_t i = 1; i < node.inputs.size(); i++) {
      if (node.inputs[i] != kNoValue && graph.constant(node.inputs[i]) == nullptr) return false;
    }
    if (!keeps_rows(graph, node)) return false;
    open.push_back(node.inputs[0]);
  }
  return true;
}

}  // namespace assay

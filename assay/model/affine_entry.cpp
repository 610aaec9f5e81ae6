#include "assay/model/affine_entry.h"

#include <algorithm>

namespace assay {
namespace {

constexpr size_t kNoValue = GraphNode::kNoValue;

float real_attribute(const OnnxNode& node, std::string_view name, float fallback) {
  const OnnxAttribute* found = node.attribute(name);
  return found == nullptr || found->floats.empty() ? fallback : found->floats[0];
}

int64_t int_attribute(const OnnxNode& node, std::string_view name, int64_t fallback) {
  const OnnxAttribute* found = node.attribute(name);
  return found == nullptr || found->ints.empty() ? fallback : found->ints[0];
}

// The only node that reads a value; null when there are several or the value is fetched.
const GraphNode* only_reader(const Graph& graph, size_t value, size_t fetch) {
  if (value == fetch) return nullptr;
  const GraphNode* reader = nullptr;
  for (const GraphNode& node : graph.nodes()) {
    const auto uses = std::count(node.inputs.begin(), node.inputs.end(), value);
    if (uses == 0) continue;
    if (reader != nullptr || uses > 1) return nullptr;
    reader = &node;
  }
  return reader;
}

bool is_copy(const GraphNode& node) {
  const std::string& op = node.onnx.op_type;
  // Flatten keeps the rows of a matrix; other changes of shape may not. A Cast to float32 keeps what is float32.
  return node.onnx.domain.empty() &&
         (op == "Identity" || op == "Dropout" || (op == "Flatten" && int_attribute(node.onnx, "axis", 1) == 1) ||
          (op == "Cast" && int_attribute(node.onnx, "to", 0) == static_cast<int64_t>(OnnxElement::float32)));
}

// The constant of a row vector of this width, or null.
const Tensor* row_vector(const Graph& graph, size_t value, size_t width) {
  if (value == kNoValue) return nullptr;
  const Tensor* tensor = graph.constant(value).get();
  if (tensor == nullptr || tensor->type() != OnnxElement::float32 || tensor->count() != width) return nullptr;
  const Shape& dims = tensor->dims();
  const bool row = dims.size() == 1 || (dims.size() == 2 && dims[0] == 1);
  return row && dims.back() == static_cast<int64_t>(width) ? tensor : nullptr;
}

}  // namespace

std::optional<FirstLayer> find_first_layer(const Graph& graph, const std::string& input, size_t features,
                                           const std::string& fetch_name) {
  const size_t fetch = graph.find_value(fetch_name);
  size_t value = graph.find_value(input);
  const GraphNode* node = only_reader(graph, value, fetch);
  while (node != nullptr && is_copy(*node)) {
    value = node->outputs[0];
    node = only_reader(graph, value, fetch);
  }
  if (node == nullptr || !node->onnx.domain.empty() || node->inputs.size() < 2 || node->inputs[0] != value) return {};
  const bool gemm = node->onnx.op_type == "Gemm";
  if (!gemm && node->onnx.op_type != "MatMul") return {};
  if (gemm && int_attribute(node->onnx, "transA", 0) != 0) return {};
  if (node->inputs[1] == kNoValue || graph.constant(node->inputs[1]) == nullptr) return {};
  const Tensor& weights = *graph.constant(node->inputs[1]);
  if (weights.type() != OnnxElement::float32 || weights.dims().size() != 2) return {};
  const bool turned = gemm && int_attribute(node->onnx, "transB", 0) != 0;
  if (static_cast<size_t>(weights.dims()[turned ? 1 : 0]) != features) return {};
  const auto width = static_cast<size_t>(weights.dims()[turned ? 0 : 1]);

  FirstLayer layer;
  layer.weights = Matrix(features, width);
  const float alpha = gemm ? real_attribute(node->onnx, "alpha", 1) : 1;
  for (size_t i = 0; i < features; i++) {
    for (size_t j = 0; j < width; j++) {
      layer.weights(i, j) = alpha * weights.data<float>()[turned ? j * features + i : i * width + j];
    }
  }
  layer.bias.assign(width, 0);
  value = node->outputs[0];
  if (gemm && node->inputs.size() > 2 && node->inputs[2] != kNoValue) {
    const Tensor* bias = row_vector(graph, node->inputs[2], width);
    if (bias == nullptr) return {};
    const float beta = real_attribute(node->onnx, "beta", 1);
    for (size_t j = 0; j < width; j++) layer.bias[j] = beta * bias->data<float>()[j];
  } else if (const GraphNode* sum = only_reader(graph, value, fetch);
             sum != nullptr && sum->onnx.domain.empty() && sum->onnx.op_type == "Add" && sum->inputs.size() == 2) {
    const size_t other = sum->inputs[0] == value ? sum->inputs[1] : sum->inputs[0];
    if (const Tensor* bias = row_vector(graph, other, width); bias != nullptr) {
      std::copy_n(bias->data<float>(), width, layer.bias.begin());
      value = sum->outputs[0];
    }
  }
  // The last layer is no entry to anything.
  if (value == fetch) return {};
  layer.entry = graph.value_name(value);
  return layer;
}

}  // namespace assay

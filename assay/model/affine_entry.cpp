#include "assay/model/affine_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

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

bool keeps_float_rows(const GraphNode& node) {
  const std::string& op = node.onnx.op_type;
  // Flatten keeps the rows of a matrix; other changes of shape may not. A Cast to float32 keeps what is float32.
  return node.onnx.domain.empty() &&
         (op == "Identity" || op == "Dropout" || (op == "Flatten" && node.onnx.int_attribute("axis", 1) == 1) ||
          (op == "Cast" && node.onnx.int_attribute("to", 0) == static_cast<int64_t>(OnnxElement::float32)));
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

// Steps over copies: the only node that reads the value, which moves on to that node's input.
const GraphNode* next_node(const Graph& graph, size_t& value, size_t fetch) {
  const GraphNode* node = only_reader(graph, value, fetch);
  while (node != nullptr && keeps_float_rows(*node)) {
    value = node->outputs[0];
    node = only_reader(graph, value, fetch);
  }
  return node;
}

struct DenseNodes {
  Matrix weights;
  std::vector<float> bias;
  size_t result;  // the value row * weights + bias
};

// The dense layer of so many inputs that alone reads the value.
std::optional<DenseNodes> find_dense(const Graph& graph, size_t value, size_t inputs, size_t fetch, bool may_be_last) {
  const GraphNode* node = next_node(graph, value, fetch);
  if (node == nullptr || !node->onnx.domain.empty() || node->inputs.size() < 2 || node->inputs[0] != value) return {};
  const bool gemm = node->onnx.op_type == "Gemm";
  if (!gemm && node->onnx.op_type != "MatMul") return {};
  if (gemm && node->onnx.int_attribute("transA", 0) != 0) return {};
  if (node->inputs[1] == kNoValue || graph.constant(node->inputs[1]) == nullptr) return {};
  const Tensor& weights = *graph.constant(node->inputs[1]);
  if (weights.type() != OnnxElement::float32 || weights.dims().size() != 2) return {};
  const bool turned = gemm && node->onnx.int_attribute("transB", 0) != 0;
  if (static_cast<size_t>(weights.dims()[turned ? 1 : 0]) != inputs) return {};
  const auto width = static_cast<size_t>(weights.dims()[turned ? 0 : 1]);

  DenseNodes layer;
  layer.bias.assign(width, 0);
  layer.result = node->outputs[0];
  if (gemm && node->inputs.size() > 2 && node->inputs[2] != kNoValue) {
    const Tensor* bias = row_vector(graph, node->inputs[2], width);
    if (bias == nullptr) return {};
    const float beta = node->onnx.real_attribute("beta", 1);
    for (size_t j = 0; j < width; j++) layer.bias[j] = beta * bias->data<float>()[j];
  } else if (const GraphNode* sum = only_reader(graph, layer.result, fetch);
             sum != nullptr && sum->onnx.domain.empty() && sum->onnx.op_type == "Add" && sum->inputs.size() == 2) {
    const size_t other = sum->inputs[0] == layer.result ? sum->inputs[1] : sum->inputs[0];
    if (const Tensor* bias = row_vector(graph, other, width); bias != nullptr) {
      std::copy_n(bias->data<float>(), width, layer.bias.begin());
      layer.result = sum->outputs[0];
    }
  }
  // Weights may be a hundred megabytes: they are copied last.
  if (layer.result == fetch && !may_be_last) return {};
  layer.weights = Matrix(inputs, width);
  const float alpha = gemm ? node->onnx.real_attribute("alpha", 1) : 1;
  for (size_t i = 0; i < inputs; i++) {
    for (size_t j = 0; j < width; j++) {
      layer.weights(i, j) = alpha * weights.data<float>()[turned ? j * inputs + i : i * width + j];
    }
  }
  return layer;
}

// The slope of a (leaky) ReLU of the value below 0; nothing for other nodes.
std::optional<float> leaky_slope(const Graph& graph, const GraphNode& node, size_t value) {
  if (!node.onnx.domain.empty() || node.inputs.empty() || node.inputs[0] != value) return {};
  if (node.onnx.op_type == "Relu") return 0.0F;
  if (node.onnx.op_type == "LeakyRelu") return node.onnx.real_attribute("alpha", 0.01F);
  if (node.onnx.op_type != "PRelu" || node.inputs.size() != 2 || node.inputs[1] == kNoValue) return {};
  const Tensor* slope = graph.constant(node.inputs[1]).get();
  if (slope == nullptr || slope->type() != OnnxElement::float32 || slope->count() != 1) return {};
  return slope->data<float>()[0];
}

}  // namespace

std::optional<FirstLayer> find_first_layer(const Graph& graph, const std::string& input, size_t features,
                                           const std::string& fetch_name) {
  const size_t fetch = graph.find_value(fetch_name);
  // The last layer is no entry to anything.
  std::optional<DenseNodes> dense = find_dense(graph, graph.find_value(input), features, fetch, false);
  if (!dense) return {};
  return FirstLayer{graph.value_name(dense->result), std::move(dense->weights), std::move(dense->bias)};
}

std::optional<LastLayer> find_last_layer(const Graph& graph, const std::string& entry, size_t entries,
                                         const std::string& fetch_name) {
  const size_t fetch = graph.find_value(fetch_name);
  size_t value = graph.find_value(entry);
  const GraphNode* activation = next_node(graph, value, fetch);
  if (activation == nullptr) return {};
  const std::optional<float> slope = leaky_slope(graph, *activation, value);
  if (!slope || !std::isfinite(*slope)) return {};
  std::optional<DenseNodes> dense = find_dense(graph, activation->outputs[0], entries, fetch, true);
  if (!dense) return {};
  value = dense->result;
  next_node(graph, value, fetch);
  if (value != fetch) return {};
  return LastLayer{*slope, std::move(dense->weights), std::move(dense->bias)};
}

}  // namespace assay

#include "assay/model/randomise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/model/ops/operators.h"

namespace assay {
namespace {

// Passes each row on as it is, in another shape at most.
bool is_copy(const OnnxNode& node) {
  if (!node.domain.empty()) return false;
  if (node.op_type == "Cast") {
    const int64_t to = node.int_attribute("to", 0);
    return to == static_cast<int64_t>(OnnxElement::float32) || to == static_cast<int64_t>(OnnxElement::float64);
  }
  return node.op_type == "Identity" || node.op_type == "Dropout" || node.op_type == "Flatten" ||
         node.op_type == "Reshape";
}

// The input of the graph that the value is a copy of; kNoValue when it is something else.
size_t input_behind(const Graph& graph, size_t value) {
  while (value != kNoValue && graph.producer_of(value) != kNoValue) {
    const GraphNode& node = graph.nodes()[graph.producer_of(value)];
    if (!is_copy(node.onnx)) return kNoValue;
    value = node.inputs.at(0);
  }
  return value == kNoValue || graph.constant(value) != nullptr ? kNoValue : value;
}

// Which nodes the value depends on, itself included.
std::vector<bool> nodes_behind(const Graph& graph, size_t value) {
  std::vector<bool> behind(graph.nodes().size(), false);
  std::vector<size_t> open = {value};
  while (!open.empty()) {
    const size_t next = open.back();
    open.pop_back();
    const size_t node = next == kNoValue ? kNoValue : graph.producer_of(next);
    if (node == kNoValue || behind[node]) continue;
    behind[node] = true;
    const std::vector<size_t>& inputs = graph.nodes()[node].inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  return behind;
}

// Finds the parameters of one node after the other.
class LayerFinder {
 public:
  explicit LayerFinder(const Graph& graph) : graph_(graph) {}

  GraphLayer of_node(size_t at) {
    const GraphNode& node = graph_.nodes()[at];
    const std::string& op = node.onnx.op_type;
    GraphLayer layer{.name = node.onnx.name.empty() ? node.onnx.outputs.at(0) : node.onnx.name};
    if (node.onnx.domain == "ai.onnx.ml" && (op == "LinearClassifier" || op == "LinearRegressor")) {
      layer.linear_nodes = copies_of(at);
      // The file's own node, where the engine has added another for the raw scores.
      if (!layer.linear_nodes.empty()) layer.name = name_of(layer.linear_nodes[0]);
      layer.reads = input_behind(graph_, node.inputs.at(0));
    }
    if (!node.onnx.domain.empty()) return layer;
    if (op == "Gemm")
      add_product(node, layer, node.onnx.int_attribute("transA", 0), node.onnx.int_attribute("transB", 0));
    if (op == "MatMul") add_product(node, layer, 0, 0);
    if (op == "Conv" && is_weight(node, 1)) {
      const Shape& dims = graph_.constant(node.inputs[1])->dims();
      const size_t fan_in = element_count(dims, std::min<size_t>(1, dims.size()), dims.size());
      add_uniform(node, 1, fan_in, layer);
      add_uniform(node, 2, fan_in, layer);
    }
    if (op == "BatchNormalization") {
      layer.reads = input_behind(graph_, node.inputs.at(0));
      add_constants(node, {1, 0, 0, 1}, layer);
      for (LayerParameter& each : layer.parameters) {
        if (each.value == node.inputs.at(3)) each.role = LayerParameter::Role::mean;
        if (each.value == node.inputs.at(4)) each.role = LayerParameter::Role::variance;
      }
    }
    if (op == "LayerNormalization") add_constants(node, {1, 0}, layer);
    if (op == "PRelu") add_constants(node, {0.25}, layer);
    return layer;
  }

 private:
  std::string name_of(size_t at) const {
    const OnnxNode& node = graph_.nodes()[at].onnx;
    return node.name.empty() ? node.outputs.at(0) : node.name;
  }

  bool is_weight(const GraphNode& node, size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input] == kNoValue) return false;
    const Tensor* tensor = graph_.constant(node.inputs[input]).get();
    return tensor != nullptr && is_floating(tensor->type()) && tensor->count() > 0;
  }

  void add(LayerParameter parameter, GraphLayer& layer) {
    if (taken_.insert(parameter.value).second) layer.parameters.push_back(parameter);
  }

  void add_uniform(const GraphNode& node, size_t input, size_t fan_in, GraphLayer& layer,
                   LayerParameter::Role role = LayerParameter::Role::none) {
    if (!is_weight(node, input)) return;
    add({.value = node.inputs[input], .fan_in = std::max<size_t>(fan_in, 1), .role = role}, layer);
  }

  // Of inputs 1, 2, ...
  void add_constants(const GraphNode& node, const std::vector<double>& starts, GraphLayer& layer) {
    for (size_t i = 0; i < starts.size(); i++) {
      if (!is_weight(node, i + 1)) continue;
      add({.value = node.inputs[i + 1], .start = LayerParameter::Start::constant, .constant = starts[i]}, layer);
    }
  }

  // x * weights or weights * x, whichever of them is known.
  void add_product(const GraphNode& node, GraphLayer& layer, int64_t turned_left, int64_t turned_right) {
    const bool right = is_weight(node, 1);
    if (!right && !is_weight(node, 0)) return;
    const Shape& dims = graph_.constant(node.inputs[right ? 1 : 0])->dims();
    // The dimension that is summed over, and the one that is left.
    const bool sums_last = right ? turned_right != 0 : turned_left == 0;
    size_t fan_in = element_count(dims);
    size_t width = 1;
    if (dims.size() >= 2) {
      fan_in = static_cast<size_t>(dims[dims.size() - (sums_last ? 1 : 2)]);
      width = static_cast<size_t>(dims[dims.size() - (sums_last ? 2 : 1)]);
    }
    LayerParameter::Role role = LayerParameter::Role::none;
    if (right && turned_left == 0 && dims.size() <= 2) {
      layer.reads = input_behind(graph_, node.inputs[0]);
      role = sums_last || dims.size() < 2 ? LayerParameter::Role::weights_last : LayerParameter::Role::weights_first;
    }
    add_uniform(node, right ? 1 : 0, fan_in, layer, role);
    if (is_weight(node, 2) && graph_.constant(node.inputs[2])->count() == width) {
      const double own = node.onnx.real_attribute("beta", 1);
      layer.bias_factor = own == 0 ? 0 : node.onnx.real_attribute("alpha", 1) / own;
      add_uniform(node, 2, fan_in, layer, LayerParameter::Role::bias);
    } else {
      add_uniform(node, 2, fan_in, layer);
    }
    if (right && node.inputs.size() == 2) {
      layer.bias_factor = node.onnx.real_attribute("alpha", 1);
      add_bias_behind(node.outputs[0], width, fan_in, layer);
    }
  }

  // MatMul has no bias of its own: exporters write an Add behind it.
  void add_bias_behind(size_t product, size_t width, size_t fan_in, GraphLayer& layer) {
    for (const GraphNode& node : graph_.nodes()) {
      if (node.onnx.op_type != "Add" || !node.onnx.domain.empty() || node.inputs.size() != 2) continue;
      for (const size_t side : {size_t{0}, size_t{1}}) {
        if (node.inputs[side] != product || !is_weight(node, 1 - side)) continue;
        const Tensor& bias = *graph_.constant(node.inputs[1 - side]);
        const bool row =
            bias.count() == width && !bias.dims().empty() && bias.dims().back() == static_cast<int64_t>(width);
        if (row) add_uniform(node, 1 - side, fan_in, layer, LayerParameter::Role::bias);
      }
    }
  }

  // All nodes that hold the same coefficients for the same input, if none of them was met before.
  std::vector<size_t> copies_of(size_t at) {
    std::vector<size_t> copies;
    const GraphNode& node = graph_.nodes()[at];
    const OnnxAttribute* coefficients = node.onnx.attribute("coefficients");
    if (coefficients == nullptr || coefficients->floats.empty() || met_.contains(at)) return {};
    for (size_t i = 0; i < graph_.nodes().size(); i++) {
      const GraphNode& other = graph_.nodes()[i];
      if (other.onnx.op_type != node.onnx.op_type || other.onnx.domain != node.onnx.domain) continue;
      const OnnxAttribute* theirs = other.onnx.attribute("coefficients");
      if (theirs == nullptr || theirs->floats != coefficients->floats || other.inputs != node.inputs) continue;
      copies.push_back(i);
      met_.insert(i);
    }
    return copies;
  }

  const Graph& graph_;
  std::unordered_set<size_t> taken_;  // values
  std::unordered_set<size_t> met_;    // nodes
};

OnnxTensor to_onnx(const std::string& name, const Tensor& tensor) {
  OnnxTensor made{.name = name, .type = tensor.type(), .dims = tensor.dims()};
  if (tensor.type() == OnnxElement::string) {
    const auto texts = tensor.values<std::string>();
    made.strings.assign(texts.begin(), texts.end());
  } else {
    made.raw.assign(static_cast<const char*>(tensor.raw()), tensor.count() * element_size(tensor.type()));
  }
  return made;
}

Tensor drawn(const Tensor& old, const LayerParameter& parameter, RandomStream random) {
  Tensor made(old.type(), old.dims());
  const double bound = 1 / std::sqrt(static_cast<double>(parameter.fan_in));
  const auto fill = [&]<class T>(T* values) {
    for (size_t i = 0; i < made.count(); i++) {
      values[i] = parameter.start == LayerParameter::Start::uniform ? static_cast<T>(bound * (2 * random.uniform() - 1))
                                                                    : static_cast<T>(parameter.constant);
    }
  };
  if (old.type() == OnnxElement::float64) {
    fill(made.data<double>());
  } else {
    fill(made.data<float>());
  }
  return made;
}

// 1 over the deviation, and the mean, of a feature; 1 and 0 of one that is not to be scaled.
struct FeatureFactor {
  double factor = 1;
  double mean = 0;
};
FeatureFactor factor_of(const FeatureScale& scale, size_t feature) {
  const double deviation = scale.deviation[feature];
  const double mean = scale.mean[feature];
  if (!(deviation > 0) || !std::isfinite(deviation) || !std::isfinite(mean)) return {};
  return {1 / deviation, mean};
}

// Divides weights of raw features by their deviations; returns what each output then has too much: the features' means.
template <class T>
std::vector<double> scale_weights(T* weights, size_t outputs, bool features_first, const FeatureScale& scale) {
  const size_t features = scale.deviation.size();
  std::vector<double> shifts(outputs, 0);
  for (size_t f = 0; f < features; f++) {
    const FeatureFactor factor = factor_of(scale, f);
    for (size_t o = 0; o < outputs; o++) {
      T& weight = weights[features_first ? f * outputs + o : o * features + f];
      const double scaled = weight * factor.factor;
      weight = static_cast<T>(scaled);
      shifts[o] += scaled * factor.mean;
    }
  }
  return shifts;
}

template <class Body>
void with_numbers(Tensor& tensor, const Body& body) {
  if (tensor.type() == OnnxElement::float64) {
    body(tensor.data<double>());
  } else {
    body(tensor.data<float>());
  }
}

// Drawn tensors of a layer that reads features of this scale.
void standardise(const GraphLayer& layer, const FeatureScale& scale, std::unordered_map<size_t, Tensor>& tensors) {
  using Role = LayerParameter::Role;
  const size_t features = scale.deviation.size();
  std::vector<double> shifts;
  for (const LayerParameter& parameter : layer.parameters) {
    Tensor& tensor = tensors.at(parameter.value);
    const bool weights = parameter.role == Role::weights_first || parameter.role == Role::weights_last;
    if (weights && parameter.fan_in == features) {
      with_numbers(tensor, [&](auto* values) {
        shifts = scale_weights(values, tensor.count() / features, parameter.role == Role::weights_first, scale);
      });
    }
    if (parameter.role == Role::bias && tensor.count() == shifts.size()) {
      with_numbers(tensor, [&]<class T>(T* values) {
        for (size_t o = 0; o < shifts.size(); o++) values[o] -= static_cast<T>(layer.bias_factor * shifts[o]);
      });
    }
    if ((parameter.role == Role::mean || parameter.role == Role::variance) && tensor.count() == features) {
      with_numbers(tensor, [&]<class T>(T* values) {
        for (size_t f = 0; f < features; f++) {
          const FeatureFactor factor = factor_of(scale, f);
          values[f] = static_cast<T>(parameter.role == Role::mean ? factor.mean : 1 / (factor.factor * factor.factor));
        }
      });
    }
  }
}

// The same for the coefficients, targets x features, and intercepts of a linear node.
void standardise(OnnxNode& node, const FeatureScale& scale) {
  const auto numbers = [&](std::string_view name) -> std::vector<float>* {
    for (OnnxAttribute& attribute : node.attributes) {
      if (attribute.name == name) return &attribute.floats;
    }
    return nullptr;
  };
  std::vector<float>* weights = numbers("coefficients");
  const size_t features = scale.deviation.size();
  if (weights->size() % features != 0) return;
  const std::vector<double> shifts = scale_weights(weights->data(), weights->size() / features, false, scale);
  std::vector<float>* bias = numbers("intercepts");
  if (bias == nullptr || bias->size() != shifts.size()) return;
  for (size_t o = 0; o < shifts.size(); o++) (*bias)[o] -= static_cast<float>(shifts[o]);
}

// Coefficients, targets x features, and intercepts of a linear node.
void draw_linear(OnnxNode& node, size_t targets, uint64_t seed, size_t layer) {
  const OnnxAttribute* coefficients = node.attribute("coefficients");
  const size_t fan_in = std::max<size_t>(coefficients->floats.size() / std::max<size_t>(targets, 1), 1);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  uint32_t draw = 0;
  for (const std::string_view name : {"coefficients", "intercepts"}) {
    RandomStream random(seed, "randomised layer", layer, draw++);
    for (OnnxAttribute& attribute : node.attributes) {
      if (attribute.name != name) continue;
      for (float& value : attribute.floats) value = static_cast<float>(bound * (2 * random.uniform() - 1));
    }
  }
}

// Rows of coefficients: one for each intercept; without those, one for each class label or target.
size_t linear_targets(const OnnxNode& node) {
  if (const OnnxAttribute* found = node.attribute("intercepts"); found != nullptr && !found->floats.empty()) {
    return found->floats.size();
  }
  if (node.op_type == "LinearRegressor")
    return static_cast<size_t>(std::max<int64_t>(node.int_attribute("targets", 0), 1));
  for (const std::string_view name : {"classlabels_ints", "classlabels_strings"}) {
    const OnnxAttribute* found = node.attribute(name);
    if (found != nullptr) return std::max<size_t>(found->ints.size() + found->strings.size(), 1);
  }
  return 1;
}

// The graph as a model whose folded values are weights, with these tensors and nodes in the place of its own. A node of
// the engine's own domain, and what was appended behind it, cannot come from a model.
Graph rebuilt(const Graph& graph, std::unordered_map<size_t, Tensor>& tensors,
              const std::unordered_map<size_t, OnnxNode>& nodes) {
  OnnxModel model;
  model.opsets = graph.opsets();
  model.producer_name = graph.producer();
  model.metadata = graph.metadata();
  model.graph.inputs = graph.inputs();
  model.graph.outputs = graph.outputs();
  for (size_t value = 0; value < graph.value_count(); value++) {
    if (graph.constant(value) == nullptr) continue;
    const auto other = tensors.find(value);
    model.graph.initializers.push_back(
        to_onnx(graph.value_name(value), other == tensors.end() ? *graph.constant(value) : other->second));
    if (other != tensors.end()) tensors.erase(other);
  }
  const auto node_at = [&](size_t at) {
    const auto other = nodes.find(at);
    return other == nodes.end() ? graph.nodes()[at].onnx : other->second;
  };
  const size_t all = graph.nodes().size();
  size_t own = 0;
  const auto added = [](const OnnxNode& node) { return is_engine_only(node.domain, node.op_type); };
  while (own < all && !added(graph.nodes()[own].onnx)) model.graph.nodes.push_back(node_at(own++));
  Graph made(graph.name(), std::move(model));
  for (size_t at = own; at < all; at++) made.append(node_at(at), graph.nodes()[at].opset);
  return made;
}

}  // namespace

std::vector<InputScale> input_scales(const ModelInfo& info, std::span<const RowInput> inputs,
                                     const FeatureScale& scale) {
  if (scale.mean.empty() && scale.deviation.empty()) return {};
  if (scale.mean.size() != info.features() || scale.deviation.size() != info.features()) {
    fail_input(fmt::format("{}: expected a mean and a deviation of each of {} features, found {} and {}", info.name,
                           info.features(), scale.mean.size(), scale.deviation.size()));
  }
  std::vector<InputScale> made;
  for (const RowInput& input : inputs) {
    const auto part = [&](const std::vector<float>& all) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(input.first_column);
      return std::vector<float>(first, first + static_cast<std::ptrdiff_t>(input.columns));
    };
    if (is_floating(input.type)) made.push_back({input.value, {part(scale.mean), part(scale.deviation)}});
  }
  return made;
}

std::vector<GraphLayer> find_layers(const Graph& graph, const std::string& fetch) {
  const std::vector<bool> behind = nodes_behind(graph, graph.find_value(fetch));
  LayerFinder finder(graph);
  std::vector<GraphLayer> layers;
  for (size_t at = graph.nodes().size(); at-- > 0;) {
    if (!behind[at]) continue;
    GraphLayer layer = finder.of_node(at);
    if (!layer.parameters.empty() || !layer.linear_nodes.empty()) layers.push_back(std::move(layer));
  }
  return layers;
}

Graph randomised_graph(const Graph& graph, std::span<const GraphLayer> layers, size_t count, bool alone, uint64_t seed,
                       std::span<const InputScale> scales) {
  assert(count <= layers.size() && (count > 0 || !alone));
  std::unordered_map<size_t, Tensor> tensors;
  std::unordered_map<size_t, OnnxNode> nodes;
  for (size_t l = alone ? count - 1 : 0; l < count; l++) {
    const FeatureScale* scale = nullptr;
    for (const InputScale& each : scales) {
      const bool known = !each.scale.deviation.empty() && each.scale.deviation.size() == each.scale.mean.size();
      if (known && layers[l].reads != kNoValue && graph.find_value(each.input) == layers[l].reads) scale = &each.scale;
    }
    uint32_t draw = 0;
    for (const LayerParameter& parameter : layers[l].parameters) {
      const RandomStream random(seed, "randomised layer", l, draw++);
      tensors.emplace(parameter.value, drawn(*graph.constant(parameter.value), parameter, random));
    }
    if (scale != nullptr) standardise(layers[l], *scale, tensors);
    for (const size_t at : layers[l].linear_nodes) {
      OnnxNode node = graph.nodes()[at].onnx;
      draw_linear(node, linear_targets(node), seed, l);
      if (scale != nullptr) standardise(node, *scale);
      nodes.emplace(at, std::move(node));
    }
  }
  return rebuilt(graph, tensors, nodes);
}

}  // namespace assay

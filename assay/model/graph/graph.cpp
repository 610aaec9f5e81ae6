#include "assay/model/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/graph/fold.h"
#include "assay/model/graph/functions.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/operators.h"

namespace assay {
namespace {

// The newest version of ai.onnx.ml.
constexpr int64_t kNewestMachineLearning = 5;

std::string operator_text(const OnnxNode& node) {
  return node.domain.empty() ? node.op_type : fmt::format("{}.{}", node.domain, node.op_type);
}

// Positions of the nodes in an order in which they can run, the file's own where that is one.
std::vector<size_t> running_order(const std::string& name, const std::vector<OnnxNode>& nodes,
                                  const std::function<bool(const std::string&)>& known) {
  std::unordered_map<std::string_view, size_t> makers;
  for (size_t i = 0; i < nodes.size(); i++) {
    for (const std::string& output : nodes[i].outputs) {
      if (!output.empty()) makers.emplace(output, i);
    }
  }
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waits_for(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); i++) {
    for (const std::string& input : nodes[i].inputs) {
      if (input.empty() || known(input)) continue;
      const auto maker = makers.find(input);
      if (maker == makers.end()) {
        fail_input(fmt::format("{}: {}: input {} is neither an input of the graph, a weight nor made by a node", name,
                               node_label(nodes[i], i + 1), in_quotes(input)));
      }
      users[maker->second].push_back(i);
      waits_for[i]++;
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); i++) {
    if (waits_for[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const size_t user : users[next]) {
      if (--waits_for[user] == 0) ready.push(user);
    }
  }
  if (order.size() < nodes.size()) {
    const auto stuck = static_cast<size_t>(
        std::find_if(waits_for.begin(), waits_for.end(), [](size_t n) { return n > 0; }) - waits_for.begin());
    fail_input(fmt::format("{}: {} waits for its own result: the graph has a cycle", name,
                           node_label(nodes[stuck], stuck + 1)));
  }
  return order;
}

}  // namespace

Graph::Graph(std::string name, OnnxModel model, const Context& context) : name_(std::move(name)) {
  inline_functions(name_, model, context);
  check_operators(model);
  producer_ = model.producer_name;
  if (!model.producer_version.empty()) producer_ += " " + model.producer_version;
  opsets_ = model.opsets;
  metadata_ = std::move(model.metadata);

  OnnxGraph& graph = model.graph;
  if (!graph.sparse_initializers.empty()) {
    fail_input(fmt::format("{}: weight {} is a sparse tensor; only dense ones are supported", name_,
                           in_quotes(graph.sparse_initializers[0])));
  }
  for (OnnxTensor& tensor : graph.initializers) {
    context.check_cancelled();
    const size_t value = add_value(tensor.name);
    constants_[value] = std::make_shared<Tensor>(Tensor::from_onnx(name_, tensor));
    initializer_[value] = true;
    parameter_count_ += constants_[value]->count();
    initializer_bytes_ += constants_[value]->count() * element_size(constants_[value]->type());
    tensor = {};  // a file of weights is not held twice
  }
  for (OnnxValue& input : graph.inputs) {
    if (const size_t known = find_value(input.name); known != kNoValue && initializer_[known]) continue;
    add_value(input.name);
    inputs_.push_back(std::move(input));
  }
  const auto known = [&](const std::string& value) { return values_.contains(value); };
  for (const size_t position : running_order(name_, graph.nodes, known)) add_node(graph.nodes[position], position);
  if (graph.outputs.empty()) fail_input(fmt::format("{}: the graph has no outputs", name_));
  for (const OnnxValue& output : graph.outputs) {
    if (find_value(output.name) == kNoValue) {
      fail_input(fmt::format("{}: output {} is neither an input of the graph, a weight nor made by a node", name_,
                             in_quotes(output.name)));
    }
  }
  outputs_ = std::move(graph.outputs);
  fold_constants(context);
}

void Graph::check_operators(const OnnxModel& model) const {
  std::map<std::string, std::vector<std::string>> missing;
  bool own = false;
  bool machine_learning = false;
  for (size_t i = 0; i < model.graph.nodes.size(); i++) {
    const OnnxNode& node = model.graph.nodes[i];
    own |= node.domain.empty();
    machine_learning |= node.domain == "ai.onnx.ml";
    if (find_operator(node.domain, node.op_type) != nullptr && !is_engine_only(node.domain, node.op_type)) continue;
    missing[operator_text(node)].push_back(node.name.empty() ? fmt::format("node {}", i + 1) : in_quotes(node.name));
  }
  if (!missing.empty()) {
    std::vector<std::string> parts;
    for (const auto& [op, nodes] : missing) {
      parts.push_back(nodes.size() == 1 ? fmt::format("{} ({})", op, nodes[0])
                                        : fmt::format("{} ({} and {} more)", op, nodes[0], nodes.size() - 1));
    }
    fail_input(fmt::format("{}: {} of the model's operators {} not supported: {}", name_, missing.size(),
                           missing.size() == 1 ? "is" : "are", fmt::join(parts, ", ")));
  }
  const int64_t version = opset_version(model.opsets, "");
  if (own && (version < kOldestOpset || version > kNewestOpset)) {
    fail_input(fmt::format("{}: the model uses version {} of ONNX's operators; versions {} to {} are supported", name_,
                           version, kOldestOpset, kNewestOpset));
  }
  const int64_t ml = opset_version(model.opsets, "ai.onnx.ml");
  if (machine_learning && (ml < 1 || ml > kNewestMachineLearning)) {
    fail_input(
        fmt::format("{}: the model uses version {} of the operators of ai.onnx.ml; versions 1 to {} are supported",
                    name_, ml, kNewestMachineLearning));
  }
}

size_t Graph::find_value(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? kNoValue : found->second;
}

size_t Graph::add_value(const std::string& name) {
  const size_t value = value_names_.size();
  if (name.empty()) fail_input(fmt::format("{}: an input or a weight of the graph has no name", name_));
  if (!values_.emplace(name, value).second) {
    fail_input(fmt::format("{}: two values of the graph have the name {}", name_, in_quotes(name)));
  }
  value_names_.push_back(name);
  constants_.emplace_back();
  initializer_.push_back(false);
  producers_.push_back(kNoValue);
  return value;
}

void Graph::add_node(const OnnxNode& onnx, size_t position) {
  GraphNode node;
  node.onnx = onnx;
  node.op = find_operator(onnx.domain, onnx.op_type);
  node.opset = opset_version(opsets_, onnx.domain);
  node.where = fmt::format("{}: {}", name_, node_label(onnx, position + 1));
  node.shared = std::make_shared<SharedParts>();
  for (const std::string& input : onnx.inputs) {
    node.inputs.push_back(input.empty() ? kNoValue : values_.at(input));
  }
  for (const std::string& output : onnx.outputs) {
    if (output.empty()) {
      node.outputs.push_back(kNoValue);
      continue;
    }
    node.outputs.push_back(add_value(output));
    producers_[node.outputs.back()] = nodes_.size();
  }
  nodes_.push_back(std::move(node));
}

void Graph::append(const OnnxNode& node, int64_t opset) {
  const int64_t known = opset_version(opsets_, node.domain);
  if (known == 0) opsets_.push_back({node.domain, opset});
  add_node(node, nodes_.size());
}

void Graph::fold_constants(const Context& context) {
  Spending spending(context, name_);
  Interruptible nodes(context, 64);
  std::vector<GraphNode> kept;
  for (GraphNode& node : nodes_) {
    nodes.turn();
    std::vector<ValueInfo> infos(node.inputs.size());
    std::vector<const ValueInfo*> inputs(node.inputs.size(), nullptr);
    bool all_constant = true;
    for (size_t i = 0; i < node.inputs.size(); i++) {
      if (node.inputs[i] == kNoValue) continue;
      const auto& constant = constants_[node.inputs[i]];
      all_constant &= constant != nullptr;
      if (constant == nullptr) break;
      infos[i] = {constant->type(), constant->dims(), constant};
      inputs[i] = &infos[i];
    }
    if (!all_constant) {
      kept.push_back(std::move(node));
      continue;
    }
    const MadeKernel made = make_kernel(node, inputs, spending.bytes_left(), false);
    std::vector<std::shared_ptr<const Tensor>> outputs = fold(node, made, inputs, spending);
    for (size_t i = 0; i < node.outputs.size(); i++) {
      if (node.outputs[i] == kNoValue || outputs[i] == nullptr) continue;
      constants_[node.outputs[i]] = std::move(outputs[i]);
      producers_[node.outputs[i]] = kNoValue;
    }
  }
  nodes_ = std::move(kept);
  for (size_t i = 0; i < nodes_.size(); i++) {
    for (const size_t output : nodes_[i].outputs) {
      if (output != kNoValue) producers_[output] = i;
    }
  }
}

}  // namespace assay

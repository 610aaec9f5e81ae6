#include "assay/model/tree_scores.h"

#include <string_view>

#include "assay/core/error.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/operators.h"

namespace assay {
namespace {

bool has_trees(const OnnxNode& node) {
  const std::string_view op = node.op_type;
  if (node.domain == "assay") return op == "Trees";
  return node.domain == "ai.onnx.ml" &&
         (op == "TreeEnsemble" || op == "TreeEnsembleRegressor" || op == "TreeEnsembleClassifier");
}

// Walks back over nodes that hand on float32 rows as they are.
size_t behind_float_copies(const Graph& graph, size_t value) {
  while (value != kNoValue && graph.producer_of(value) != kNoValue) {
    const GraphNode& node = graph.nodes()[graph.producer_of(value)];
    const bool to_float = node.onnx.int_attribute("to", 0) == static_cast<int64_t>(OnnxElement::float32);
    const bool copy = node.onnx.domain.empty() && !node.inputs.empty() &&
                      (node.onnx.op_type == "Identity" || (node.onnx.op_type == "Cast" && to_float));
    if (!copy) break;
    value = node.inputs[0];
  }
  return value;
}

std::shared_ptr<const TreeEnsemble> trees_of(const Graph& graph, const GraphNode& node, size_t features,
                                             const Context& context) {
  context.check_cancelled();
  const Operator* known = find_operator(node.onnx.domain, node.onnx.op_type);
  if (known == nullptr) return nullptr;
  const ValueInfo rows{OnnxElement::float32, {1, static_cast<int64_t>(features)}, nullptr};
  try {
    NodeSetup setup(node.onnx, node.opset, graph.name(), {&rows}, context.budget.bytes, false, node.shared.get());
    return known->make(setup)->raw_trees();
  } catch (const Error&) {
    // The graph itself runs, or says why not.
    return nullptr;
  }
}

}  // namespace

std::vector<ScoredTrees> find_trees(const Graph& graph, const std::string& input, size_t features,
                                    const Context& context) {
  std::vector<ScoredTrees> found;
  const size_t rows = graph.find_value(input);
  for (const GraphNode& node : graph.nodes()) {
    if (!has_trees(node.onnx) || node.inputs.size() != 1 || behind_float_copies(graph, node.inputs[0]) != rows)
      continue;
    // The scores are the last output, after the labels of a classifier.
    const bool classifier = node.onnx.op_type == "TreeEnsembleClassifier";
    const size_t output = classifier ? 1 : 0;
    if (output >= node.onnx.outputs.size() || node.onnx.outputs[output].empty()) continue;
    auto trees = trees_of(graph, node, features, context);
    if (trees != nullptr) found.push_back({node.onnx.outputs[output], std::move(trees)});
  }
  return found;
}

}  // namespace assay

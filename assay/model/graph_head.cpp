#include "assay/model/graph_head.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/metadata.h"
#include "assay/model/ops/classifier.h"
#include "assay/model/ops/zip_map.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

const GraphNode* producer(const Graph& graph, size_t value) {
  const size_t node = value == kNoValue ? kNoValue : graph.producer_of(value);
  return node == kNoValue ? nullptr : &graph.nodes()[node];
}

bool is(const GraphNode* node, std::string_view domain, std::string_view op) {
  return node != nullptr && node->onnx.domain == domain && node->onnx.op_type == op;
}

std::string text_attribute(const OnnxNode& node, std::string_view name, std::string_view fallback) {
  const OnnxAttribute* found = node.attribute(name);
  return found == nullptr || found->strings.empty() ? std::string(fallback) : found->strings[0];
}

// A scores output holds floats for each row: a tensor of them, or the maps of a ZipMap.
bool may_be_scores(const Graph& graph, const OnnxValue& output) {
  if (is(producer(graph, graph.find_value(output.name)), "ai.onnx.ml", "ZipMap")) return true;
  if (output.type.kind == OnnxValueKind::sequence || output.type.kind == OnnxValueKind::map) return true;
  const OnnxElement type = stored_element(output.type.element);
  return type == OnnxElement::float32 || type == OnnxElement::float64 || type == OnnxElement::undefined;
}

bool casts_to_float(const GraphNode* node) {
  if (!is(node, "", "Cast")) return false;
  const int64_t type = node->onnx.int_attribute("to", 0);
  return type == static_cast<int64_t>(OnnxElement::float32) || type == static_cast<int64_t>(OnnxElement::float64);
}

bool is_one(const Graph& graph, size_t value) {
  if (value == kNoValue || graph.constant(value) == nullptr) return false;
  const Tensor& tensor = *graph.constant(value);
  return tensor.type() == OnnxElement::float32 && tensor.count() == 1 && tensor.data<float>()[0] == 1;
}

// Whether a value comes from an operator of ai.onnx.ml, as it is.
bool is_of_ml(const Graph& graph, size_t value) {
  const GraphNode* node = producer(graph, value);
  while (is(node, "", "Identity") && !node->inputs.empty()) node = producer(graph, node->inputs[0]);
  return node != nullptr && node->onnx.domain == "ai.onnx.ml";
}

// Walks back over nodes that only copy their input.
size_t behind_copies(const Graph& graph, size_t value, GraphHead& head) {
  while (const GraphNode* node = producer(graph, value)) {
    if (node->inputs.empty() || node->inputs[0] == kNoValue) break;
    const bool zip = is(node, "ai.onnx.ml", "ZipMap");
    // What is cast must itself be one of the scores we know; other values may not be numbers.
    const GraphNode* before = producer(graph, node->inputs[0]);
    const bool scores = is(before, "", "Softmax") || is(before, "", "Sigmoid") || is(before, "", "LogSoftmax") ||
                        is(before, "", "Concat") || (before != nullptr && before->onnx.domain == "ai.onnx.ml");
    // Converters of boosters write it behind their classifier; others may mean an end that is taken as it is.
    const bool times_one = is(node, "", "Mul") && node->inputs.size() == 2 && is_one(graph, node->inputs[1]) &&
                           is_of_ml(graph, node->inputs[0]);
    const bool copy =
        zip || times_one || is(node, "", "Identity") || is(node, "", "Dropout") || (casts_to_float(node) && scores);
    if (!copy) break;
    if (zip && head.class_names.empty()) head.class_names = zip_map_keys(node->onnx);
    value = node->inputs[0];
  }
  return value;
}

// For Concat(1 - p, p) along the classes: p.
size_t positive_of_pair(const Graph& graph, size_t value) {
  const GraphNode* concat = producer(graph, value);
  if (!is(concat, "", "Concat") || concat->inputs.size() != 2) return kNoValue;
  const OnnxAttribute* axis = concat->onnx.attribute("axis");
  if (axis == nullptr || axis->ints.empty() || (axis->ints[0] != 1 && axis->ints[0] != -1)) return kNoValue;
  const GraphNode* first = producer(graph, concat->inputs[0]);
  if (!is(first, "", "Sub") || first->inputs.size() != 2 || first->inputs[1] != concat->inputs[1]) return kNoValue;
  return is_one(graph, first->inputs[0]) ? concat->inputs[1] : kNoValue;
}

bool softmax_over_classes(const GraphNode& node) {
  const OnnxAttribute* axis = node.onnx.attribute("axis");
  const int64_t given = axis == nullptr || axis->ints.empty() ? (node.opset < 13 ? 1 : -1) : axis->ints[0];
  return given == 1 || given == -1;
}

// A name that no value of the graph has.
std::string fresh_name(const Graph& graph, std::string name) {
  while (graph.find_value(name) != kNoValue) name += "'";
  return name;
}

// A copy of a classifier node whose scores are the raw sums.
std::string add_raw_scores(Graph& graph, const GraphNode& node) {
  OnnxNode raw = node.onnx;
  const int64_t opset = node.opset;
  raw.name += "/margin";
  const std::string scores = fresh_name(graph, fmt::format("{}/margin", raw.outputs[1]));
  raw.outputs = {fresh_name(graph, fmt::format("{}/margin_label", raw.outputs[1])), scores};
  std::erase_if(raw.attributes, [](const OnnxAttribute& each) { return each.name == "assay_raw"; });
  raw.attributes.push_back(OnnxAttribute::one_int("assay_raw", 1));
  graph.append(raw, opset);
  return scores;
}

// A regression whose file says which value is explained: the one before exp, say. value: what its output copies.
bool find_told(const Graph& graph, size_t value, GraphHead& head) {
  const std::string* margin = find_metadata(graph.metadata(), kMarginKey);
  if (margin == nullptr || graph.find_value(*margin) == kNoValue) return false;
  head.margin = *margin;
  head.transformed = graph.value_name(value) != head.margin;
  // What is predicted may be a probability all the same, as of XGBoost's reg:logistic.
  const GraphNode* node = producer(graph, graph.find_value(head.output));
  if (is(node, "", "Sigmoid") && node->onnx.inputs[0] == head.margin) {
    head.link = Link::sigmoid;
    head.probability = head.output;
  }
  return true;
}

// Heads made by a classifier node of ai.onnx.ml.
bool find_classifier(Graph& graph, size_t value, GraphHead& head) {
  const GraphNode* node = producer(graph, value);
  bool normalised = false;
  if (is(node, "ai.onnx.ml", "Normalizer") && text_attribute(node->onnx, "norm", "MAX") == "L1") {
    normalised = true;
    node = producer(graph, node->inputs[0]);
  }
  const bool linear = is(node, "ai.onnx.ml", "LinearClassifier");
  const bool trees = is(node, "ai.onnx.ml", "TreeEnsembleClassifier");
  if (!(linear || trees) || node->outputs.size() < 2 || node->onnx.outputs[1].empty()) return false;
  head.classification = true;
  if (head.class_names.empty()) head.class_names = classifier_labels(node->onnx);
  const std::string transform = text_attribute(node->onnx, "post_transform", "NONE");
  if (trees && transform == "NONE") {
    head.probability = graph.value_name(value);
    head.reason = "the trees' leaves hold probabilities";
    return true;
  }
  if (transform != "NONE" && transform != "SOFTMAX" && transform != "LOGISTIC") {
    head.probability = graph.value_name(value);
    head.reason = fmt::format("the scores of its classifier pass {}", transform);
    return true;
  }
  if (transform != "NONE") head.probability = graph.value_name(value);
  head.link = transform == "SOFTMAX" ? Link::softmax : transform == "LOGISTIC" ? Link::sigmoid : Link::none;
  head.one_vs_rest = head.link == Link::sigmoid && normalised && head.class_names.size() > 2;
  const std::string op = node->onnx.op_type;
  head.margin = add_raw_scores(graph, *node);
  head.reason = transform == "NONE" ? fmt::format("the scores of its {}", op)
                                    : fmt::format("the scores of its {} before {}", op, lower_case(transform));
  return true;
}

// LinearRegressor, TreeEnsembleRegressor, ...: several numbers from one of these are no logits.
bool is_regressor(const GraphNode* node) {
  return node != nullptr && node->onnx.domain == "ai.onnx.ml" && node->onnx.op_type.ends_with("Regressor");
}

}  // namespace

GraphHead find_head(Graph& graph) {
  GraphHead head;
  bool labels = false;
  for (const OnnxValue& output : graph.outputs()) {
    if (may_be_scores(graph, output)) {
      if (head.output.empty()) head.output = output.name;
    } else {
      labels = true;
    }
  }
  if (head.output.empty()) {
    fail_input(
        fmt::format("{}: none of its outputs holds numbers that can be explained; found only labels", graph.name()));
  }
  const size_t value = behind_copies(graph, graph.find_value(head.output), head);
  if (find_told(graph, value, head) || find_classifier(graph, value, head)) return head;
  const auto scores = std::find_if(graph.outputs().begin(), graph.outputs().end(),
                                   [&](const OnnxValue& output) { return output.name == head.output; });
  const auto& dims = scores->type.dims;
  // Of more dimensions it is not known here which one holds the classes.
  const bool matrix = !dims || dims->size() <= 2;
  size_t linked = value;
  if (const size_t positive = positive_of_pair(graph, value); positive != kNoValue) linked = positive;
  const GraphNode* node = producer(graph, linked);
  const bool softmax = matrix && is(node, "", "Softmax") && softmax_over_classes(*node);
  const bool log_softmax = matrix && is(node, "", "LogSoftmax") && softmax_over_classes(*node);
  if (softmax || log_softmax || (matrix && is(node, "", "Sigmoid"))) {
    head.classification = true;
    head.link = softmax || log_softmax ? Link::softmax : Link::sigmoid;
    head.margin = graph.value_name(node->inputs[0]);
    if (!log_softmax) head.probability = graph.value_name(linked);
    head.reason = fmt::format("the value before {}", node->onnx.op_type);
    return head;
  }
  // A graph with a label output classifies; its scores pass operators we do not look behind.
  const bool named = lower_case(head.output).find("proba") != std::string::npos;
  if (labels || named || !head.class_names.empty()) {
    head.classification = true;
    head.probability = graph.value_name(value);
    head.reason = "the graph shows no margin behind its probabilities";
    return head;
  }
  head.margin = graph.value_name(value);
  if (dims && dims->size() == 2 && dims->back().size.value_or(0) > 1 && !is_regressor(producer(graph, value))) {
    head.classification = true;
    head.link = Link::softmax;
    head.reason = "the graph ends without softmax, so its outputs are taken for the classes' logits";
  }
  return head;
}

std::string explained_value(Graph& graph, const GraphHead& head, std::optional<OutputUnit> wanted, ModelInfo& info) {
  const auto refuse = [&](std::string_view reason) {
    fail_input(fmt::format("{}: output {} is not available: {}", graph.name(), output_unit_name(*wanted), reason));
  };
  const auto added = [&](std::string op, std::string domain, int64_t opset, std::string_view suffix) {
    OnnxNode node;
    node.op_type = std::move(op);
    node.domain = std::move(domain);
    node.name = fresh_name(graph, fmt::format("{}/{}", head.margin, suffix));
    node.inputs = {head.margin};
    node.outputs = {node.name};
    graph.append(node, opset);
    return node.name;
  };
  if (!head.classification) {
    if (!head.probability.empty() && (wanted == OutputUnit::probability || wanted == OutputUnit::log_odds)) {
      info.unit = *wanted;
      return info.unit == OutputUnit::probability ? head.probability : head.margin;
    }
    if (wanted && *wanted != OutputUnit::margin) {
      refuse("the graph ends without softmax, sigmoid or a classifier, so its outputs are explained as they are");
    }
    info.unit = OutputUnit::value;
    return head.margin;
  }
  info.unit = wanted.value_or(head.margin.empty() ? OutputUnit::probability : OutputUnit::margin);
  switch (info.unit) {
    case OutputUnit::margin:
      if (head.margin.empty()) refuse(head.reason);
      info.note = fmt::format("margins: {}", head.reason);
      return head.margin;
    case OutputUnit::probability:
      if (head.margin.empty()) info.note = fmt::format("probabilities, for the model has no margins: {}", head.reason);
      if (!head.probability.empty()) return head.probability;
      if (head.link == Link::none) refuse(fmt::format("the graph gives {}, not probabilities", head.reason));
      return added(head.link == Link::softmax ? "Softmax" : "Sigmoid", "", Graph::kNewestOpset, "probability");
    case OutputUnit::log_odds:
      if (head.margin.empty() || head.link == Link::none) refuse(fmt::format("it needs margins; {}", head.reason));
      if (head.one_vs_rest) refuse("the classes are one-vs-rest sigmoids, whose margins do not give log-odds");
      if (head.link == Link::sigmoid) return head.margin;
      return added("LogOdds", "assay", 1, "log_odds");
    default: refuse("the model classifies");
  }
  return {};
}

}  // namespace assay

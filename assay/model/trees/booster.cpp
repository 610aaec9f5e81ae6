#include "assay/model/trees/booster.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/model/engine_model.h"
#include "assay/model/metadata.h"

namespace assay {
namespace {

constexpr const char* kInput = "features";
constexpr const char* kScores = "margin";

template <class T>
OnnxAttribute tensor_attribute(std::string name, OnnxElement type, const std::vector<T>& values) {
  OnnxAttribute made;
  made.name = std::move(name);
  made.kind = OnnxAttributeKind::one_tensor;
  OnnxTensor tensor{.type = type, .dims = {static_cast<int64_t>(values.size())}};
  tensor.raw.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.raw.data(), values.data(), tensor.raw.size());
  made.tensors.push_back(std::move(tensor));
  return made;
}
OnnxAttribute whole_tensor(std::string name, const std::vector<int64_t>& values) {
  return tensor_attribute(std::move(name), OnnxElement::int64, values);
}
OnnxAttribute real_tensor(std::string name, const std::vector<double>& values) {
  return tensor_attribute(std::move(name), OnnxElement::float64, values);
}

OnnxNode node_of(std::string op, std::string domain, std::vector<std::string> inputs, std::string output) {
  OnnxNode made;
  made.name = output;
  made.op_type = std::move(op);
  made.domain = std::move(domain);
  made.inputs = std::move(inputs);
  made.outputs = {std::move(output)};
  return made;
}

OnnxValue value_of(std::string name, size_t width) {
  OnnxValue made;
  made.name = std::move(name);
  made.type.kind = OnnxValueKind::tensor;
  made.type.element = OnnxElement::float32;
  made.type.dims = {{{.symbol = "rows"}, {.size = static_cast<int64_t>(width)}}};
  return made;
}

OnnxNode trees_node(const Booster& booster) {
  std::vector<int64_t> modes, features, missing, true_children, false_children, first_weights, weight_counts;
  std::vector<double> thresholds, covers;
  bool covered = true;
  for (const TreeSource::Node& node : booster.source.nodes) {
    modes.push_back(static_cast<int64_t>(node.mode));
    features.push_back(node.feature);
    thresholds.push_back(node.threshold);
    missing.push_back(node.missing_goes_true ? 1 : 0);
    true_children.push_back(static_cast<int64_t>(node.true_child));
    false_children.push_back(static_cast<int64_t>(node.false_child));
    first_weights.push_back(static_cast<int64_t>(node.first_weight));
    weight_counts.push_back(static_cast<int64_t>(node.weight_count));
    covers.push_back(node.cover);
    covered = covered && node.cover == node.cover;
  }
  std::vector<int64_t> targets, lengths;
  std::vector<double> weights, members;
  for (const TreeWeight& weight : booster.source.weights) {
    targets.push_back(weight.target);
    weights.push_back(weight.value);
  }
  for (const std::vector<double>& set : booster.source.sets) {
    lengths.push_back(static_cast<int64_t>(set.size()));
    members.insert(members.end(), set.begin(), set.end());
  }
  OnnxNode made = node_of("Trees", "assay", {kInput}, kScores);
  made.attributes = {whole_tensor("nodes_modes", modes),
                     whole_tensor("nodes_features", features),
                     real_tensor("nodes_thresholds", thresholds),
                     whole_tensor("nodes_missing_true", missing),
                     whole_tensor("nodes_true", true_children),
                     whole_tensor("nodes_false", false_children),
                     whole_tensor("nodes_first_weight", first_weights),
                     whole_tensor("nodes_weight_count", weight_counts),
                     whole_tensor("weight_targets", targets),
                     real_tensor("weight_values", weights),
                     whole_tensor("set_lengths", lengths),
                     real_tensor("set_members", members),
                     whole_tensor("roots", {booster.source.roots.begin(), booster.source.roots.end()}),
                     OnnxAttribute::one_int("n_targets", static_cast<int64_t>(booster.targets)),
                     OnnxAttribute::one_int("aggregate", static_cast<int64_t>(booster.aggregate))};
  if (covered) made.attributes.push_back(real_tensor("nodes_covers", covers));
  if (!booster.base.empty()) made.attributes.push_back(real_tensor("base_values", booster.base));
  return made;
}

// From raw scores to what the library predicts.
std::vector<OnnxNode> link_nodes(BoosterLink link, const std::string& output) {
  switch (link) {
    case BoosterLink::none: return {node_of("Identity", "", {kScores}, output)};
    case BoosterLink::exponential: return {node_of("Exp", "", {kScores}, output)};
    case BoosterLink::softplus: return {node_of("Softplus", "", {kScores}, output)};
    case BoosterLink::sigmoid: return {node_of("Sigmoid", "", {kScores}, output)};
    case BoosterLink::softmax: return {node_of("Softmax", "", {kScores}, output)};
    case BoosterLink::signed_square:
      return {node_of("Abs", "", {kScores}, "size"), node_of("Mul", "", {kScores, "size"}, output)};
  }
  return {};
}

// What a regression's raw scores are beside the library's predictions.
std::string_view score_words(BoosterLink link) {
  switch (link) {
    case BoosterLink::exponential: return "the logarithm of what the library predicts";
    case BoosterLink::signed_square: return "the signed square root of what the library predicts";
    case BoosterLink::softplus: return "the value whose ln(1 + exp) the library predicts";
    case BoosterLink::sigmoid: return "the log-odds of what the library predicts";
    default: return "";
  }
}

void check(std::string_view name, const Booster& booster) {
  const auto expect = [&](std::string_view what, size_t found, size_t expected) {
    if (found != expected) fail_input(fmt::format("{}: expected {} {}, found {}", name, expected, what, found));
  };
  if (booster.features == 0) fail_input(fmt::format("{}: expected at least one feature, found none", name));
  if (booster.targets == 0) fail_input(fmt::format("{}: expected at least one target, found none", name));
  if (!booster.feature_names.empty()) expect("names of features", booster.feature_names.size(), booster.features);
  std::set<std::string_view> seen;
  for (const std::string& feature : booster.feature_names) {
    if (!seen.insert(feature).second)
      fail_input(fmt::format("{}: two features are named {}", name, in_quotes(feature)));
  }
  if (!booster.base.empty()) expect("base values", booster.base.size(), booster.targets);
  const size_t classes = booster.targets == 1 ? 2 : booster.targets;
  if (!booster.class_names.empty()) expect("names of classes", booster.class_names.size(), classes);
  for (const auto& [feature, texts] : booster.categories) {
    if (feature < booster.features) continue;
    fail_input(fmt::format("{}: feature {} has categories, of {} features", name, feature, booster.features));
  }
}

std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool compares_doubles(const OnnxModel& model) {
  const auto is_double = [](const OnnxValue& input) { return input.type.element == OnnxElement::float64; };
  return find_metadata(model.metadata, kDoublesKey) != nullptr || std::ranges::any_of(model.graph.inputs, is_double);
}

OnnxModel booster_graph(std::string_view name, const Booster& booster) {
  check(name, booster);
  OnnxModel made;
  made.ir_version = 10;
  made.opsets = {{"", Graph::kNewestOpset}, {"assay", 1}};
  made.producer_name = booster.producer;
  const std::string output = booster.classification ? "probability" : "value";
  made.graph.name = "trees";
  made.graph.inputs = {value_of(kInput, booster.features)};
  made.graph.outputs = {value_of(output, booster.targets)};
  made.graph.nodes = {trees_node(booster)};
  for (OnnxNode& node : link_nodes(booster.link, output)) made.graph.nodes.push_back(std::move(node));
  const auto note = [&](std::string_view key, std::string text) {
    made.metadata.emplace_back(std::string(key), std::move(text));
  };
  if (!booster.feature_names.empty()) note(kFeatureNamesKey, json_text(booster.feature_names));
  if (!booster.class_names.empty()) note(kClassNamesKey, json_text(booster.class_names));
  if (!booster.categories.empty()) {
    nlohmann::json categories = nlohmann::json::object();
    for (const auto& [feature, texts] : booster.categories) categories[fmt::format("{}", feature)] = texts;
    note(kCategoriesKey, json_text(categories));
  }
  if (booster.compares_doubles) note(kDoublesKey, "1");
  if (booster.only_scores) note(kOnlyScoresKey, "1");
  std::vector<std::string> notes;
  // What is explained of a classification shows in the graph itself.
  if (!booster.classification) {
    note(kMarginKey, kScores);
    if (!score_words(booster.link).empty()) notes.emplace_back(score_words(booster.link));
  }
  if (!booster.note.empty()) notes.push_back(booster.note);
  if (!booster.caution.empty()) note(kCautionKey, booster.caution);
  if (!notes.empty()) note(kNoteKey, fmt::format("{}", fmt::join(notes, "; ")));
  return made;
}

}  // namespace assay

// assay inspect FILE
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/explain/methods.h"
#include "assay/model/engine_model.h"
#include "assay/model/graph/plan.h"
#include "assay/model/trees/ensemble.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

constexpr size_t kShownNodes = 40;
constexpr size_t kShownNames = 8;
// Rows of a trial batch. A dimension that is a multiple of it depends on the batch, and is shown with N.
constexpr int64_t kTrialRows = 61;

struct InspectArguments {
  std::string model;
  bool all = false;
  size_t features = 0;
};

std::string dims_text(const Shape& dims, int64_t batch) {
  std::vector<std::string> parts;
  for (const int64_t dim : dims) {
    if (batch != kTrialRows || dim == 0 || dim % batch != 0) {
      parts.push_back(fmt::format("{}", dim));
    } else {
      parts.push_back(dim == batch ? "N" : fmt::format("{}N", dim / batch));
    }
  }
  return parts.empty() ? "one value" : fmt::format("{}", fmt::join(parts, " x "));
}

std::string declared_text(const OnnxValue& value) {
  if (value.type.kind == OnnxValueKind::sequence || value.type.kind == OnnxValueKind::map) return "a map for each row";
  std::vector<std::string> parts;
  if (value.type.dims) {
    for (const OnnxDimension& dim : *value.type.dims) {
      parts.push_back(dim.size ? fmt::format("{}", *dim.size) : dim.symbol.empty() ? "?" : one_line(dim.symbol));
    }
  }
  return fmt::format("{} {}", onnx_type_name(value.type.element), fmt::join(parts, " x "));
}

std::string first_names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size() && i < kShownNames; i++) shown.push_back(one_line(names[i]));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShownNames ? ", ..." : "");
}

struct TreeFacts {
  size_t trees = 0;
  size_t branches = 0;
  size_t leaves = 0;
  size_t deepest = 0;     // branches on the longest path to a leaf
  size_t categories = 0;  // branches that test for a set of categories
  size_t parameters = 0;  // thresholds, or sets, and weights of leaves
  bool covers = false;
};

TreeFacts facts_of(const TreeEnsemble& ensemble) {
  TreeFacts facts{.trees = ensemble.roots().size(), .covers = !ensemble.covers().empty()};
  // Children come after their parents.
  std::vector<uint32_t> depths(ensemble.nodes().size());
  for (size_t i = 0; i < depths.size(); i++) {
    const TreeNode& node = ensemble.nodes()[i];
    facts.deepest = std::max<size_t>(facts.deepest, depths[i]);
    (node.is_leaf() ? facts.leaves : facts.branches)++;
    facts.parameters += node.is_leaf() ? ensemble.weights(node).size() : 1;
    if (node.is_leaf()) continue;
    depths[node.child] = depths[node.child + 1] = depths[i] + 1;
    if (has_set(node.mode())) facts.categories++;
  }
  return facts;
}

std::string tree_text(const TreeEnsemble& ensemble) {
  const TreeFacts facts = facts_of(ensemble);
  std::string text = fmt::format("{}: {} branches, {} leaves, deepest {}", with_commas(facts.trees),
                                 with_commas(facts.branches), with_commas(facts.leaves), with_commas(facts.deepest));
  if (facts.categories > 0) text += fmt::format(", {} branches on categories", with_commas(facts.categories));
  return text + (facts.covers ? ", with covers" : ", without covers");
}

// 0 if the model is not a function of the scores of one TreeEnsemble node.
size_t tree_parameters(const EngineModel& model) {
  return model.tree_scores() == nullptr ? 0 : facts_of(model.tree_scores()->trees()).parameters;
}

// One node of the graph: its output and its number of weights.
struct NodeRow {
  std::string name;
  std::string op;
  std::string shape;
  size_t parameters = 0;
};

std::vector<NodeRow> node_rows(const EngineModel& model, int64_t batch, const Context& context) {
  const Graph& graph = model.graph();
  std::vector<NodeRow> rows;
  PlanRequest request;
  request.fuse = false;
  request.run = false;
  for (const GraphNode& node : graph.nodes()) {
    for (const std::string& output : node.onnx.outputs) {
      if (!output.empty()) request.fetches.push_back(output);
    }
  }
  for (const RowInput& input : model.inputs()) {
    Shape dims = input.row_shape;
    dims.insert(dims.begin(), batch);
    request.feeds.push_back({input.value, {input.type, dims, nullptr}});
  }
  const Plan plan(graph, request, context);
  size_t fetch = 0;
  for (const GraphNode& node : graph.nodes()) {
    NodeRow row{node.onnx.name, node.onnx.op_type, "", 0};
    bool first = true;
    for (const std::string& output : node.onnx.outputs) {
      if (output.empty()) continue;
      if (first) row.shape = dims_text(plan.fetched(fetch).dims, batch);
      if (row.name.empty()) row.name = output;
      first = false;
      fetch++;
    }
    for (const size_t input : node.inputs) {
      if (input != kNoValue && graph.is_initializer(input)) row.parameters += graph.constant(input)->count();
    }
    if (row.op.starts_with("Tree")) row.parameters += tree_parameters(model);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> capabilities(const EngineModel& model) {
  std::vector<std::string> can = {"predict"};
  if (model.differentiable() != nullptr) can.emplace_back("gradients");
  if (model.rescalable() != nullptr) can.emplace_back("DeepLift multipliers");
  if (model.affine_entry() != nullptr) can.emplace_back("fast coalitions (affine first layer)");
  if (model.tree_scores() != nullptr) {
    // Methods without a reference need the number of training rows at each tree node. Not every file has it.
    const bool covers = !model.tree_scores()->trees().covers().empty();
    std::vector<std::string> names;
    for (const MethodInfo& info : methods()) {
      if (info.for_trees && (info.uses_reference || covers)) names.push_back(info.name);
    }
    can.push_back(fmt::format("trees ({})", fmt::join(names, ", ")));
  }
  if (model.trainable() != nullptr) can.emplace_back("retraining");
  return can;
}

std::string explained_text(const ModelInfo& info) {
  std::string text = fmt::format("{} of {}", output_unit_name(info.unit), first_names(info.output_names));
  if (!info.note.empty()) text += fmt::format(" ({})", one_line(info.note));
  return text;
}

std::string opset_text(const Graph& graph) {
  std::vector<std::string> parts;
  for (const OnnxOpset& opset : graph.opsets()) {
    if (opset.domain == "assay") continue;
    parts.push_back(fmt::format("{} {}", opset.domain.empty() ? "ai.onnx" : one_line(opset.domain), opset.version));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void print_graph(const EngineModel& model, const std::vector<NodeRow>& nodes, bool all) {
  const Graph& graph = model.graph();
  fmt::print("{}: {} nodes, {} parameters\n", one_line(graph.name()), with_commas(nodes.size()),
             with_commas(graph.parameter_count() + tree_parameters(model)));
  if (!graph.producer().empty()) fmt::print("made by    {}\n", one_line(graph.producer()));
  fmt::print("operators  {}\n", opset_text(graph));
  for (const OnnxValue& input : graph.inputs()) {
    fmt::print("input      {}: {}\n", one_line(input.name), declared_text(input));
  }
  for (const OnnxValue& output : graph.outputs()) {
    fmt::print("output     {}: {}\n", one_line(output.name), declared_text(output));
  }
  const ModelInfo& info = model.info();
  fmt::print("features   {}: {}\n", with_commas(info.features()), first_names(info.feature_names));
  if (model.encoder() != nullptr) {
    fmt::print("encoder    takes {} raw columns\n", with_commas(model.encoder()->columns().size()));
  }
  if (!info.class_names.empty()) {
    fmt::print("classes    {}: {}\n", info.class_names.size(), first_names(info.class_names));
  }
  fmt::print("explained  {}\n", explained_text(info));
  if (model.tree_scores() != nullptr) fmt::print("trees      {}\n", tree_text(model.tree_scores()->trees()));
  fmt::print("can        {}\n", fmt::join(capabilities(model), ", "));
  fmt::print("runs       {} rows at a time in {} bytes a thread\n\n", with_commas(model.block_rows()),
             with_commas(model.block_bytes()));
  std::vector<std::vector<std::string>> rows = {{"node", "operator", "result", "parameters"}};
  for (size_t i = 0; i < nodes.size() && (all || i < kShownNodes); i++) {
    const NodeRow& node = nodes[i];
    rows.push_back({one_line(node.name), node.op, node.shape, node.parameters > 0 ? with_commas(node.parameters) : ""});
  }
  fmt::print("{}", aligned(rows, {0, 1, 2}));
  if (!all && nodes.size() > kShownNodes) {
    fmt::print("... {} more nodes (--all shows them)\n", with_commas(nodes.size() - kShownNodes));
  }
}

void print_graph_json(const EngineModel& model, const std::vector<NodeRow>& nodes) {
  using nlohmann::json;
  const ModelInfo& info = model.info();
  auto listed = json::array();
  for (const NodeRow& node : nodes) {
    listed.push_back(
        {{"name", node.name}, {"operator", node.op}, {"result", node.shape}, {"parameters", node.parameters}});
  }
  json out = {{"model", model.graph().name()},
              {"producer", model.graph().producer()},
              {"operators", opset_text(model.graph())},
              {"parameters", model.graph().parameter_count() + tree_parameters(model)},
              {"features", info.feature_names},
              {"outputs", info.output_names},
              {"classes", info.class_names},
              {"explained", output_unit_name(info.unit)},
              {"note", info.note},
              {"capabilities", capabilities(model)},
              {"encoder", model.encoder() != nullptr},
              {"block_rows", model.block_rows()},
              {"block_bytes", model.block_bytes()},
              {"nodes", listed}};
  if (model.tree_scores() != nullptr) {
    const TreeFacts facts = facts_of(model.tree_scores()->trees());
    out["trees"] = {{"count", facts.trees},     {"branches", facts.branches},     {"leaves", facts.leaves},
                    {"deepest", facts.deepest}, {"categories", facts.categories}, {"covers", facts.covers}};
  }
  fmt::print("{}\n", out.dump(2, ' ', false, json::error_handler_t::replace));
}

void inspect(const InspectArguments& arguments, const Session& session) {
  EngineModelOptions options;
  if (arguments.features > 0) options.features = arguments.features;
  const auto model = EngineModel::load(arguments.model, options, session.context);
  std::vector<NodeRow> nodes;
  try {
    nodes = node_rows(*model, kTrialRows, session.context);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;
    // The batch size is fixed, or the trial batch is too large.
    nodes = node_rows(*model, static_cast<int64_t>(model->block_rows()), session.context);
  }
  if (session.json) {
    print_graph_json(*model, nodes);
  } else {
    print_graph(*model, nodes, arguments.all);
  }
}

}  // namespace

void add_inspect(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "A model's graph, shapes, parameters, capabilities and what is explained");
  command->add_option("model", arguments->model, "An ONNX, XGBoost or LightGBM file")->required();
  command->add_option("--features", arguments->features, "How many features a row has, for a graph that leaves it open")
      ->check(positive_whole_number, "UINT64");
  command->add_flag("--all", arguments->all, "Show every node of a long graph");
  command->callback([&session, arguments] { session.run = [&session, arguments] { inspect(*arguments, session); }; });
}

}  // namespace assay::cli

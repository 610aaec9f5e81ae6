#include "assay/model/ops/ensemble_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "assay/core/text.h"

namespace assay {
namespace {

TreeMode mode_named(const NodeSetup& setup, const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, TreeMode>, 7> kModes = {{
      {"BRANCH_LEQ", TreeMode::less_equal},
      {"LEAF", TreeMode::leaf},
      {"BRANCH_LT", TreeMode::less},
      {"BRANCH_GTE", TreeMode::greater_equal},
      {"BRANCH_GT", TreeMode::greater},
      {"BRANCH_EQ", TreeMode::equal},
      {"BRANCH_NEQ", TreeMode::not_equal},
  }};
  for (const auto& [known, mode] : kModes) {
    if (known == name) return mode;
  }
  setup.fail(fmt::format(
      "nodes_modes must be BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF, found {}",
      in_quotes(name)));
}

// Positions of nodes by their names in the file.
class NodeNames {
 public:
  NodeNames(const NodeSetup& setup, const std::vector<int64_t>& trees, const std::vector<int64_t>& ids) {
    names_.reserve(ids.size());
    for (size_t i = 0; i < ids.size(); i++) names_.emplace_back(trees[i], ids[i], i);
    // Most files are in order; sorting, unlike hashing, has no bad cases.
    if (!std::is_sorted(names_.begin(), names_.end())) std::sort(names_.begin(), names_.end());
    for (size_t i = 1; i < names_.size(); i++) {
      const auto& [tree, id, position] = names_[i];
      if (tree == std::get<0>(names_[i - 1]) && id == std::get<1>(names_[i - 1])) {
        setup.fail(fmt::format("node {} of tree {} is given twice", id, tree));
      }
    }
  }

  size_t find(const NodeSetup& setup, int64_t tree, int64_t id, std::string_view what) const {
    const auto found = std::lower_bound(names_.begin(), names_.end(), std::tuple(tree, id, size_t{0}));
    if (found == names_.end() || std::get<0>(*found) != tree || std::get<1>(*found) != id) {
      setup.fail(fmt::format("{} is node {} of tree {}, which does not exist", what, id, tree));
    }
    return std::get<2>(*found);
  }
  // The first listed node of each tree, in the order of the file.
  std::vector<size_t> roots() const {
    std::vector<size_t> roots;
    for (size_t i = 0; i < names_.size(); i++) {
      const auto& [tree, id, position] = names_[i];
      if (i == 0 || tree != std::get<0>(names_[i - 1])) {
        roots.push_back(position);
      } else {
        roots.back() = std::min(roots.back(), position);
      }
    }
    std::sort(roots.begin(), roots.end());
    return roots;
  }

 private:
  std::vector<std::tuple<int64_t, int64_t, size_t>> names_;  // tree, id, position
};

void add_nodes(const NodeSetup& setup, TreeSource& source, const std::vector<int64_t>& trees,
               const std::vector<int64_t>& ids, const NodeNames& names) {
  const std::vector<std::string> modes = setup.texts("nodes_modes");
  const std::vector<int64_t> features = setup.integers("nodes_featureids");
  const std::vector<int64_t> true_ids = setup.integers("nodes_truenodeids");
  const std::vector<int64_t> false_ids = setup.integers("nodes_falsenodeids");
  const std::vector<int64_t> missing = setup.integers("nodes_missing_value_tracks_true");
  const std::vector<double> values = reals_or_tensor(setup, "nodes_values");
  expect_length(setup, "nodes_treeids", trees.size(), ids.size());
  expect_length(setup, "nodes_modes", modes.size(), ids.size());
  expect_length(setup, "nodes_featureids", features.size(), ids.size());
  expect_length(setup, "nodes_truenodeids", true_ids.size(), ids.size());
  expect_length(setup, "nodes_falsenodeids", false_ids.size(), ids.size());
  expect_length(setup, "nodes_values", values.size(), ids.size());
  if (!missing.empty()) expect_length(setup, "nodes_missing_value_tracks_true", missing.size(), ids.size());
  source.nodes.resize(ids.size());
  for (size_t i = 0; i < ids.size(); i++) {
    TreeSource::Node& node = source.nodes[i];
    node.mode = mode_named(setup, modes[i]);
    node.tree = trees[i];
    node.id = ids[i];
    if (node.mode == TreeMode::leaf) continue;
    node.missing_goes_true = !missing.empty() && missing[i] == 1;
    node.feature = features[i];
    node.threshold = values[i];
    node.true_child = names.find(setup, trees[i], true_ids[i], "a true child");
    node.false_child = names.find(setup, trees[i], false_ids[i], "a false child");
  }
}

}  // namespace

void expect_length(const NodeSetup& setup, std::string_view name, size_t found, size_t expected) {
  if (found == expected) return;
  setup.fail(fmt::format("expected {} elements in {}, as in its other attributes; found {}", expected, name, found));
}

std::vector<double> reals_or_tensor(const NodeSetup& setup, const std::string& name) {
  const std::vector<float> floats = setup.reals(name);
  const OnnxTensor* tensor = setup.tensor(name + "_as_tensor");
  if (tensor == nullptr) return {floats.begin(), floats.end()};
  if (!floats.empty()) setup.fail(fmt::format("it has both {0} and {0}_as_tensor", name));
  return to_doubles(setup.where(), *tensor);
}

std::vector<double> tensor_reals(const NodeSetup& setup, std::string_view name) {
  const OnnxTensor* tensor = setup.tensor(name);
  return tensor == nullptr ? std::vector<double>() : to_doubles(setup.where(), *tensor);
}

std::vector<int64_t> tensor_wholes(const NodeSetup& setup, std::string_view name) {
  const OnnxTensor* tensor = setup.tensor(name);
  return tensor == nullptr ? std::vector<int64_t>() : to_int64s(setup.where(), *tensor);
}

EnsembleAttributes ensemble_attributes(const NodeSetup& setup, const std::string& prefix, size_t targets) {
  EnsembleAttributes found;
  found.base = reals_or_tensor(setup, "base_values");
  const std::vector<int64_t> trees = setup.integers("nodes_treeids");
  const std::vector<int64_t> ids = setup.integers("nodes_nodeids");
  expect_length(setup, "nodes_treeids", trees.size(), ids.size());
  const NodeNames names(setup, trees, ids);
  add_nodes(setup, found.source, trees, ids, names);
  found.source.roots = names.roots();

  const std::vector<int64_t> weight_targets = setup.integers(prefix + "_ids");
  const std::vector<int64_t> weight_trees = setup.integers(prefix + "_treeids");
  const std::vector<int64_t> weight_nodes = setup.integers(prefix + "_nodeids");
  const std::vector<double> weights = reals_or_tensor(setup, prefix + "_weights");
  expect_length(setup, prefix + "_treeids", weight_trees.size(), weight_targets.size());
  expect_length(setup, prefix + "_nodeids", weight_nodes.size(), weight_targets.size());
  expect_length(setup, prefix + "_weights", weights.size(), weight_targets.size());
  const size_t most = std::min<size_t>(targets, std::numeric_limits<uint32_t>::max());
  std::vector<size_t> leaves(weights.size());
  for (size_t i = 0; i < weights.size(); i++) {
    if (weight_targets[i] < 0 || static_cast<uint64_t>(weight_targets[i]) >= most) {
      setup.fail(fmt::format("{}_ids must lie in 0 to {}, found {}", prefix, most - 1, weight_targets[i]));
    }
    leaves[i] = names.find(setup, weight_trees[i], weight_nodes[i], "the place of a weight");
    if (weights[i] < 0) found.all_positive = false;
    found.source.nodes[leaves[i]].weight_count++;
  }
  found.one_target = !weights.empty() && std::all_of(weight_targets.begin(), weight_targets.end(),
                                                     [&](int64_t target) { return target == weight_targets[0]; });
  // The weights of a leaf stand together, in the order of the file.
  size_t next = 0;
  for (TreeSource::Node& node : found.source.nodes) {
    if (node.mode != TreeMode::leaf) node.weight_count = 0;
    node.first_weight = next;
    next += node.weight_count;
    node.weight_count = 0;
  }
  found.source.weights.resize(next);
  for (size_t i = 0; i < weights.size(); i++) {
    TreeSource::Node& node = found.source.nodes[leaves[i]];
    if (node.mode != TreeMode::leaf) continue;
    found.source.weights[node.first_weight + node.weight_count++] = {static_cast<uint32_t>(weight_targets[i]),
                                                                     weights[i]};
  }
  return found;
}

}  // namespace assay

#include <fmt/format.h>

#include <cmath>

#include "assay/core/error.h"
#include "assay/model/trees/xgboost_parts.h"

namespace assay {
namespace {

// Codes from here on are never found in a set: float32 cannot tell them apart.
constexpr double kEndOfCodes = 16777216;

double as_float32(double number) { return static_cast<double>(static_cast<float>(number)); }

class TreeReader {
 public:
  TreeReader(std::string_view where, FlatDocument::Value tree, TreeSource& source)
      : where_(where), tree_(tree), source_(source), left_(xgboost_numbers(where, tree, "left_children")) {
    if (left_.empty()) fail_input(where_, "left_children to have a node", "none");
    right_ = nodes_field("right_children");
    features_ = nodes_field("split_indices");
    thresholds_ = nodes_field("split_conditions");
    default_left_ = nodes_field("default_left");
    if (tree["split_type"].exists()) types_ = nodes_field("split_type");
    if (tree["sum_hessian"].exists()) covers_ = nodes_field("sum_hessian");
    const auto parameters = tree["tree_param"];
    const size_t nodes = xgboost_count(where_, parameters, "num_nodes", left_.size(), size_t{1} << 31);
    if (nodes != left_.size()) {
      fail_input(where_, fmt::format("{} nodes as num_nodes says", nodes), fmt::format("{}", left_.size()));
    }
  }

  // target: of all leaves, unless they are vectors of one weight for each of `targets`.
  void add(size_t number, size_t target, size_t targets, double share) {
    const size_t vector = xgboost_count(where_, tree_["tree_param"], "size_leaf_vector", 0, size_t{1} << 31);
    if (vector > 1) add_vectors(vector, targets, share);
    if (tree_["categories_nodes"].exists()) read_sets();
    const size_t root = source_.nodes.size();
    source_.roots.push_back(root);
    for (size_t i = 0; i < left_.size(); i++) {
      TreeSource::Node node;
      node.tree = static_cast<int64_t>(number);
      node.id = static_cast<int64_t>(i);
      if (!covers_.empty()) node.cover = covers_[i];
      if (left_[i] != -1) {
        fill_branch(node, i, root);
      } else if (vector > 1) {
        node.first_weight = first_vector_ + whole("right_children", right_, i, vectors_) * vector;
        node.weight_count = vector;
      } else {
        const double weight = as_float32(thresholds_[i]);
        if (!std::isfinite(weight)) fail_value("split_conditions", i, thresholds_[i], "a finite number at a leaf");
        node.first_weight = source_.weights.size();
        node.weight_count = 1;
        source_.weights.push_back({static_cast<uint32_t>(target), weight * share});
      }
      source_.nodes.push_back(node);
    }
  }

 private:
  [[noreturn]] void fail_value(std::string_view field, size_t i, double found, std::string_view expected) const {
    fail_input(where_, fmt::format("{}[{}] to be {}", field, i, expected), fmt::format("{}", found));
  }

  std::span<const double> nodes_field(std::string_view key) const {
    const auto values = xgboost_numbers(where_, tree_, key);
    if (values.size() != left_.size()) {
      fail_input(where_, fmt::format("{} for each of {} nodes", key, left_.size()), fmt::format("{}", values.size()));
    }
    return values;
  }

  size_t whole(std::string_view field, std::span<const double> values, size_t i, size_t end) const {
    const double value = values[i];
    if (!(value >= 0 && value < static_cast<double>(end) && value == std::floor(value))) {
      fail_value(field, i, value, fmt::format("a whole number from 0 to below {}", end));
    }
    return static_cast<size_t>(value);
  }

  bool truth(std::string_view field, std::span<const double> values, size_t i) const {
    return whole(field, values, i, 2) == 1;
  }

  void fill_branch(TreeSource::Node& node, size_t i, size_t root) const {
    const size_t left = root + whole("left_children", left_, i, left_.size());
    const size_t right = root + whole("right_children", right_, i, left_.size());
    const bool missing_left = truth("default_left", default_left_, i);
    // What does not fit in 32 bits is no feature: those of unreachable nodes are not checked.
    node.feature = static_cast<int64_t>(whole("split_indices", features_, i, size_t{1} << 32));
    if (!types_.empty() && truth("split_type", types_, i)) {
      if (sets_.empty() || sets_[i] == 0) fail_input(where_, fmt::format("categories of node {}", i), "none");
      node.mode = TreeMode::member_whole;
      node.threshold = static_cast<double>(sets_[i] - 1);
      node.true_child = right;
      node.false_child = left;
      node.missing_goes_true = !missing_left;
      return;
    }
    node.mode = TreeMode::less;
    node.threshold = as_float32(thresholds_[i]);
    if (std::isnan(node.threshold)) fail_value("split_conditions", i, node.threshold, "a number");
    node.true_child = left;
    node.false_child = right;
    node.missing_goes_true = missing_left;
  }

  // Sets of categories of nodes that have them: each a segment of one array.
  void read_sets() {
    const auto nodes = xgboost_numbers(where_, tree_, "categories_nodes");
    const auto firsts = xgboost_numbers(where_, tree_, "categories_segments");
    const auto counts = xgboost_numbers(where_, tree_, "categories_sizes");
    const auto codes = xgboost_numbers(where_, tree_, "categories");
    if (firsts.size() != nodes.size() || counts.size() != nodes.size()) {
      fail_input(where_, fmt::format("categories_segments and categories_sizes of {} nodes", nodes.size()),
                 fmt::format("{} and {}", firsts.size(), counts.size()));
    }
    if (nodes.empty()) return;
    sets_.assign(left_.size(), 0);
    size_t used = 0;
    for (size_t k = 0; k < nodes.size(); k++) {
      const size_t node = whole("categories_nodes", nodes, k, left_.size());
      const size_t first = whole("categories_segments", firsts, k, codes.size() + 1);
      const size_t count = whole("categories_sizes", counts, k, codes.size() - first + 1);
      // Segments of a true file do not overlap. Those that do would take memory out of proportion to the file.
      used += count;
      if (used > codes.size() || sets_[node] != 0) {
        fail_input(where_, "every category in the set of one node", fmt::format("more at node {}", node));
      }
      std::vector<double> set;
      for (size_t i = first; i < first + count; i++) {
        const size_t code = whole("categories", codes, i, size_t{1} << 31);
        if (static_cast<double>(code) < kEndOfCodes) set.push_back(static_cast<double>(code));
      }
      source_.sets.push_back(std::move(set));
      sets_[node] = source_.sets.size();
    }
  }

  void add_vectors(size_t vector, size_t targets, double share) {
    if (!tree_["leaf_weights"].exists()) {
      fail_input(where_, "vectors of leaves as XGBoost 3.2 writes them (leaf_weights; load and save the model with it)",
                 "none");
    }
    const auto weights = xgboost_numbers(where_, tree_, "leaf_weights");
    if (vector != targets || weights.size() % vector != 0) {
      fail_input(where_, fmt::format("leaf_weights of {} targets", targets),
                 fmt::format("{} in vectors of {}", weights.size(), vector));
    }
    first_vector_ = source_.weights.size();
    vectors_ = weights.size() / vector;
    for (size_t i = 0; i < weights.size(); i++) {
      const double weight = as_float32(weights[i]);
      if (!std::isfinite(weight)) fail_value("leaf_weights", i, weights[i], "a finite number");
      source_.weights.push_back({static_cast<uint32_t>(i % vector), weight * share});
    }
  }

  std::string_view where_;
  FlatDocument::Value tree_;
  TreeSource& source_;
  std::span<const double> left_;  // of all nodes, as what follows
  std::span<const double> right_;
  std::span<const double> features_;
  std::span<const double> thresholds_;
  std::span<const double> default_left_;
  std::span<const double> types_;
  std::span<const double> covers_;
  std::vector<size_t> sets_;  // of each node: 1 + its place in source.sets, or 0
  size_t first_vector_ = 0;
  size_t vectors_ = 0;
};

}  // namespace

void add_xgboost_tree(std::string_view where, FlatDocument::Value tree, size_t number, size_t target, double share,
                      Booster& booster) {
  const std::string place = fmt::format("{}: tree {}", where, number);
  if (tree.kind() != FlatDocument::Kind::object) fail_input(place, "an object", tree.kind_words());
  TreeReader(place, tree, booster.source).add(number, target, booster.targets, share);
}

}  // namespace assay

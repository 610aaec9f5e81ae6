#include "assay/model/trees/ensemble.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <utility>

#include "assay/core/error.h"
#include "assay/model/trees/float_threshold.h"

namespace assay {
namespace {

constexpr size_t kMostNodes = size_t{1} << 27;
// Weights at leaves of the trees, each as often as branches lead there, for each node, weight and tree of the source.
constexpr size_t kMostSharing = 16;
// Keys of rows that go through the trees together, about half a first-level cache of them.
constexpr size_t kKeysTogether = 4096;
// With fewer rows several trees are walked at once instead.
constexpr size_t kFewRows = KeyedTrees::kLanes / 2;

std::string name_of(const TreeSource::Node& node) {
  return node.tree < 0 ? fmt::format("node {}", node.id) : fmt::format("node {} of tree {}", node.id, node.tree);
}

// Readers check what they can name better; what is left leads nowhere else.
void check_source(std::string_view where, const TreeSource& source, size_t targets, size_t bases) {
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds) fail_input(fmt::format("{}: {} does not exist", where, what));
  };
  const size_t nodes = source.nodes.size();
  if (bases != 0 && bases != targets) {
    fail_input(fmt::format("{}: expected {} base values, found {}", where, targets, bases));
  }
  std::vector<uint8_t> owned(source.weights.size(), 0);  // by a leaf
  for (const TreeWeight& weight : source.weights) {
    if (weight.target < targets) continue;
    fail_input(fmt::format("{}: a leaf has a weight for target {}, of {}", where, weight.target, targets));
  }
  for (const size_t root : source.roots) expect(root < nodes, "a root");
  for (const TreeSource::Node& node : source.nodes) {
    if (node.mode == TreeMode::leaf) {
      const bool there =
          node.first_weight <= source.weights.size() && node.weight_count <= source.weights.size() - node.first_weight;
      if (!there) expect(false, fmt::format("a weight of {}", name_of(node)));
      for (size_t w = node.first_weight; w < node.first_weight + node.weight_count; w++) {
        if (std::exchange(owned[w], uint8_t{1}) == 0) continue;
        fail_input(fmt::format("{}: leaves share weights, as {} does", where, name_of(node)));
      }
      continue;
    }
    const bool set =
        !has_set(node.mode) || (node.threshold >= 0 && node.threshold < static_cast<double>(source.sets.size()));
    if (node.true_child >= nodes || node.false_child >= nodes)
      expect(false, fmt::format("a child of {}", name_of(node)));
    if (!set) expect(false, fmt::format("the set of {}", name_of(node)));
  }
}

class Builder {
 public:
  Builder(std::string_view where, const TreeSource& source, size_t features)
      : weights(source.weights),
        where_(where),
        source_(source),
        features_(features),
        reached_(source.nodes.size(), 0),
        first_sums_(source.nodes.size()),
        most_weights_(
            std::min(kMostNodes, kMostSharing * (source.nodes.size() + source.weights.size() + source.roots.size()))) {
    const size_t most = std::max({source.nodes.size(), source.weights.size(), source.roots.size()});
    if (most >= kMostNodes) {
      fail_input(
          fmt::format("{}: expected fewer than {} nodes, weights and trees, found {}", where_, kMostNodes, most));
    }
    for (const std::vector<double>& set : source.sets) add_set(set);
    // Once for each leaf: many branches may share one.
    for (size_t i = 0; i < source.nodes.size(); i++) {
      const TreeSource::Node& node = source.nodes[i];
      if (node.mode != TreeMode::leaf) continue;
      const auto own = std::span(weights).subspan(node.first_weight, node.weight_count);
      const auto before = [](const TreeWeight& a, const TreeWeight& b) { return a.target < b.target; };
      // Stable: sums over a target's weights run in the order of the file.
      if (!std::is_sorted(own.begin(), own.end(), before)) std::stable_sort(own.begin(), own.end(), before);
      for (const TreeWeight& weight : own) {
        if (weight.target != 0) break;
        first_sums_[i] += weight.value;
      }
    }
  }

  std::vector<TreeNode> nodes;
  std::vector<double> covers;
  std::vector<TreeWeight> weights;  // those of the source; each leaf's in the order of their targets
  std::vector<TreeSet> sets;
  std::vector<double> members;

  uint32_t add_tree(size_t root) {
    const size_t at = nodes.size();
    nodes.emplace_back();
    covers.emplace_back();
    pending_ = {{root, at}};
    // An explicit stack: a hostile tree is a chain of a million nodes.
    while (!pending_.empty()) {
      const auto [from, to] = pending_.back();
      pending_.pop_back();
      add_node(from, to);
    }
    return static_cast<uint32_t>(at);
  }

 private:
  void add_set(std::vector<double> set) {
    // NaN equals nothing, and would spoil the order.
    std::erase_if(set, [](double value) { return std::isnan(value); });
    std::sort(set.begin(), set.end());
    sets.push_back({static_cast<uint32_t>(members.size()), static_cast<uint32_t>(set.size())});
    members.insert(members.end(), set.begin(), set.end());
  }

  void add_node(size_t from, size_t to) {
    const TreeSource::Node& node = source_.nodes[from];
    covers[to] = node.cover;
    TreeNode made;
    made.mode_bits = static_cast<uint32_t>(node.mode) & 15U;
    if (node.mode == TreeMode::leaf) {
      made.child = static_cast<uint32_t>(node.first_weight);
      made.feature = static_cast<uint32_t>(node.weight_count) & (kMostNodes - 1);
      made.threshold = first_sums_[from];
      nodes[to] = made;
      reached_weights_ += node.weight_count;
      if (reached_weights_ > most_weights_) {
        fail_input(
            fmt::format("{}: expected at most {} weights at the leaves of all branches, found more: many branches "
                        "lead to one leaf, as to {}",
                        where_, most_weights_, name_of(node)));
      }
      return;
    }
    if (reached_[from] != 0) {
      fail_input(fmt::format("{}: {} is reached twice; the nodes must form trees", where_, name_of(node)));
    }
    reached_[from] = 1;
    if (node.feature < 0 || static_cast<uint64_t>(node.feature) >= std::min(features_, kMostNodes)) {
      fail_input(
          fmt::format("{}: {} tests feature {}, the input has {}", where_, name_of(node), node.feature, features_));
    }
    made.feature = static_cast<uint32_t>(node.feature) & (kMostNodes - 1);
    made.threshold = node.threshold;
    made.missing_goes_true = node.missing_goes_true ? 1 : 0;
    const size_t false_child = node.mode == TreeMode::equal ? join_chain(from, made) : node.false_child;
    const size_t pair = nodes.size();
    made.child = static_cast<uint32_t>(pair);
    nodes[to] = made;
    nodes.resize(pair + 2);
    covers.resize(pair + 2);
    pending_.emplace_back(false_child, pair + 1);
    pending_.emplace_back(node.true_child, pair);
  }

  // Makes one member node of `equal` tests of one feature that follow each other by their false children and share
  // their true child; returns the false child of the last.
  size_t join_chain(size_t from, TreeNode& made) {
    const TreeSource::Node& first = source_.nodes[from];
    std::vector<double> values = {first.threshold};
    size_t next = first.false_child;
    for (;; next = source_.nodes[next].false_child) {
      const TreeSource::Node& node = source_.nodes[next];
      if (node.mode != TreeMode::equal || node.feature != first.feature || node.true_child != first.true_child ||
          reached_[next] != 0) {
        break;
      }
      reached_[next] = 1;
      values.push_back(node.threshold);
      if (node.missing_goes_true) made.missing_goes_true = 1;
    }
    if (values.size() == 1) return next;
    made.mode_bits = static_cast<uint32_t>(TreeMode::member) & 15U;
    made.threshold = static_cast<double>(sets.size());
    add_set(std::move(values));
    return next;
  }

  std::string where_;
  const TreeSource& source_;
  size_t features_;
  std::vector<uint8_t> reached_;
  std::vector<double> first_sums_;  // of each leaf's weights for target 0
  size_t reached_weights_ = 0;      // of all leaves that were made
  size_t most_weights_ = 0;
  std::vector<std::pair<size_t, size_t>> pending_;  // from source node, to slot
};

// The threshold with which a branch that tests order decides on x as it did on x - c. Rounding keeps the order of
// numbers, so that there is a last x of the lower side: it is searched among all float32 numbers.
double shifted_threshold(const TreeNode& node, float c) {
  const double t = node.threshold;
  const bool is_open = node.mode() == TreeMode::less || node.mode() == TreeMode::greater_equal;  // t is above
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // Nothing is on the lower side, whatever the shift.
  if (std::isnan(t) || (is_open && t == -std::numeric_limits<double>::infinity())) return t;
  const auto is_low = [&](float x) {
    const float moved = x - c;
    return is_open ? static_cast<double>(moved) < t : static_cast<double>(moved) <= t;
  };
  int64_t last_low = float_key(-kInfinity);
  int64_t end = float_key(kInfinity);  // behind it nothing is low
  while (last_low < end) {
    const int64_t middle = last_low + (end - last_low + 1) / 2;
    if (is_low(float_of_key(static_cast<int32_t>(middle)))) {
      last_low = middle;
    } else {
      end = middle - 1;
    }
  }
  const float last = float_of_key(static_cast<int32_t>(last_low));
  return static_cast<double>(is_open ? std::nextafter(last, kInfinity) : last);
}

template <class T>
double as_double(T x) {
  if constexpr (std::is_integral_v<T>) return static_cast<double>(static_cast<float>(x));
  return static_cast<double>(x);
}

}  // namespace

TreeEnsemble::TreeEnsemble(std::string_view where, const TreeSource& source, size_t features, size_t targets,
                           TreeAggregate aggregate, std::vector<double> base)
    : features_(features), targets_(targets), aggregate_(aggregate), base_(std::move(base)) {
  check_source(where, source, targets, base_.size());
  Builder builder(where, source, features);
  builder.nodes.reserve(source.nodes.size());
  for (const size_t root : source.roots) roots_.push_back(builder.add_tree(root));
  nodes_ = std::move(builder.nodes);
  weights_ = std::move(builder.weights);
  if (std::ranges::all_of(builder.covers, [](double cover) { return std::isfinite(cover) && cover >= 0; })) {
    covers_ = std::move(builder.covers);
  }
  sets_ = std::move(builder.sets);
  members_ = std::move(builder.members);
  bool first = true;
  for (const TreeNode& node : nodes_) {
    if (node.is_leaf()) continue;
    if (!first && node.mode() != only_mode_) {
      only_mode_ = TreeMode::leaf;
      break;
    }
    only_mode_ = node.mode();
    first = false;
  }
  keyed_ = KeyedTrees(nodes_, roots_);
}

std::optional<TreeEnsemble> TreeEnsemble::shifted(std::span<const float> c) const {
  TreeEnsemble made = *this;
  for (TreeNode& node : made.nodes_) {
    if (node.is_leaf() || c[node.feature] == 0) continue;
    if (!tests_order(node.mode()) || !std::isfinite(c[node.feature])) return {};
    node.threshold = shifted_threshold(node, c[node.feature]);
  }
  made.keyed_ = KeyedTrees(made.nodes_, made.roots_);
  return made;
}

template <TreeMode kOnly>
bool TreeEnsemble::decide(const TreeNode& node, double x) const {
  bool result = false;
  switch (kOnly == TreeMode::leaf ? node.mode() : kOnly) {
    case TreeMode::less_equal: result = x <= node.threshold; break;
    case TreeMode::less: result = x < node.threshold; break;
    case TreeMode::greater_equal: result = x >= node.threshold; break;
    case TreeMode::greater: result = x > node.threshold; break;
    case TreeMode::equal: result = x == node.threshold; break;
    case TreeMode::not_equal: result = x != node.threshold; break;
    case TreeMode::member: {
      const auto set = members(node);
      result = x == x && std::binary_search(set.begin(), set.end(), x);
      break;
    }
    case TreeMode::less_equal_or_zero:
      if (is_tree_zero(x)) return node.missing_goes_true != 0;
      result = x <= node.threshold;
      break;
    case TreeMode::member_whole: {
      const auto set = members(node);
      result = x >= 0 && std::binary_search(set.begin(), set.end(), std::trunc(x));
      break;
    }
    case TreeMode::leaf: break;
  }
  return result | ((node.missing_goes_true != 0) & (x != x));
}

bool TreeEnsemble::goes_true_otherwise(const TreeNode& node, double x) const { return decide<TreeMode::leaf>(node, x); }

template <TreeMode kOnly, class T>
void TreeEnsemble::find_leaves(uint32_t root, const T* x, size_t rows, size_t width, uint32_t* at) const {
  std::fill_n(at, rows, root);
  if (nodes_[root].is_leaf()) return;
  // A step waits for the load of a node, so several rows step at once. Those that are at their leaf stay there.
  bool moving = true;
  while (moving) {
    moving = false;
    for (size_t i = 0; i < rows; i++) {
      const TreeNode& node = nodes_[at[i]];
      const bool is_leaf = node.is_leaf();
      const double value = as_double(x[i * width + (is_leaf ? 0U : node.feature)]);
      const uint32_t next = node.child + (decide<kOnly>(node, value) ? 0U : 1U);
      at[i] = is_leaf ? at[i] : next;
      moving |= !is_leaf;
    }
  }
}

template <TreeMode kOnly, class T>
void TreeEnsemble::add_trees(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const {
  constexpr size_t kTogether = 8;
  uint32_t at[kTogether];
  for (const uint32_t root : roots_) {
    for (size_t begin = 0; begin < rows; begin += kTogether) {
      const size_t count = std::min(kTogether, rows - begin);
      find_leaves<kOnly>(root, x + begin * width, count, width, at);
      for (size_t k = 0; k < count; k++) add_leaf_of_row(at[k], begin + k, totals, scored);
    }
  }
}

template <class T>
void TreeEnsemble::add_keyed_trees(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const {
  constexpr size_t kLanes = KeyedTrees::kLanes;
  const size_t group_keys = keyed_.columns() * kLanes;
  const size_t most_groups =
      std::clamp<size_t>(kKeysTogether / std::max<size_t>(group_keys, 1), 1, block_rows() / kLanes + 1);
  const size_t all_groups = (rows + kLanes - 1) / kLanes;
  std::vector<int32_t> keys(std::min(most_groups, all_groups) * group_keys);
  std::vector<uint32_t> leaves(std::min(most_groups, all_groups) * kLanes);
  for (size_t begin = 0; begin < rows; begin += most_groups * kLanes) {
    const size_t count = std::min(most_groups * kLanes, rows - begin);
    for (size_t i = 0; i < count; i += kLanes) {
      keyed_.write_keys(x + (begin + i) * width, std::min(kLanes, count - i), width,
                        keys.data() + i / kLanes * group_keys);
    }
    if (count < kFewRows) {
      for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; t < roots_.size(); t += kLanes) {
          const size_t trees = std::min(kLanes, roots_.size() - t);
          keyed_.leaves_of_trees(t, trees, keys.data(), i, leaves.data());
          for (size_t k = 0; k < trees; k++) add_leaf_of_row(leaves[k], begin + i, totals, scored);
        }
      }
      continue;
    }
    for (size_t t = 0; t < roots_.size(); t++) {
      keyed_.leaves_of_rows(t, keys.data(), (count + kLanes - 1) / kLanes, leaves.data());
      for (size_t i = 0; i < count; i++) add_leaf_of_row(leaves[i], begin + i, totals, scored);
    }
  }
}

inline void TreeEnsemble::add_leaf_of_row(uint32_t leaf, size_t row, double* totals, uint8_t* scored) const {
  const TreeNode& node = nodes_[leaf];
  if (targets_ == 1 && adds_up()) {
    totals[row] += node.threshold;
    scored[row] |= node.feature != 0 ? 1 : 0;
  } else if (adds_up()) {
    for (const TreeWeight& weight : weights(node)) {
      totals[row * targets_ + weight.target] += weight.value;
      scored[row * targets_ + weight.target] = 1;
    }
  } else {
    add_leaf(node, totals + row * targets_, scored + row * targets_);
  }
}

void TreeEnsemble::add_leaf(const TreeNode& leaf, double* totals, uint8_t* scored) const {
  for (const TreeWeight& weight : weights(leaf)) {
    double& total = totals[weight.target];
    const bool first = scored[weight.target] == 0;
    scored[weight.target] = 1;
    switch (aggregate_) {
      case TreeAggregate::average:
      case TreeAggregate::sum: total += weight.value; break;
      case TreeAggregate::minimum: total = first || weight.value < total ? weight.value : total; break;
      case TreeAggregate::maximum: total = first || weight.value > total ? weight.value : total; break;
    }
  }
}

template <class T>
void TreeEnsemble::add_all_trees(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const {
  if constexpr (!std::is_same_v<T, double>) {
    if (keyed_.usable()) return add_keyed_trees(x, rows, width, totals, scored);
  }
  switch (only_mode_) {
    case TreeMode::less_equal: return add_trees<TreeMode::less_equal>(x, rows, width, totals, scored);
    case TreeMode::less: return add_trees<TreeMode::less>(x, rows, width, totals, scored);
    case TreeMode::greater: return add_trees<TreeMode::greater>(x, rows, width, totals, scored);
    default: return add_trees<TreeMode::leaf>(x, rows, width, totals, scored);
  }
}

template <class T>
void TreeEnsemble::raw_scores(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const {
  std::fill_n(totals, rows * targets_, 0.0);
  std::fill_n(scored, rows * targets_, base_.empty() ? uint8_t{0} : uint8_t{1});
  // Minima and maxima are taken of weights alone; base values are added after.
  if (!adds_up()) std::fill_n(scored, rows * targets_, uint8_t{0});
  add_all_trees(x, rows, width, totals, scored);
  if (aggregate_ == TreeAggregate::average && !roots_.empty()) {
    for (size_t i = 0; i < rows * targets_; i++) totals[i] /= static_cast<double>(roots_.size());
  }
  if (base_.empty()) return;
  for (size_t i = 0; i < rows; i++) {
    for (size_t t = 0; t < targets_; t++) totals[i * targets_ + t] += base_[t];
  }
}

template void TreeEnsemble::raw_scores(const float*, size_t, size_t, double*, uint8_t*) const;
template void TreeEnsemble::raw_scores(const double*, size_t, size_t, double*, uint8_t*) const;
template void TreeEnsemble::raw_scores(const int32_t*, size_t, size_t, double*, uint8_t*) const;
template void TreeEnsemble::raw_scores(const int64_t*, size_t, size_t, double*, uint8_t*) const;

}  // namespace assay

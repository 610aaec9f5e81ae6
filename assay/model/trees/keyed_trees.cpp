#include "assay/model/trees/keyed_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "assay/model/trees/ensemble.h"
#include "assay/model/trees/float_threshold.h"

namespace assay {
namespace {

constexpr int32_t kSmallest = std::numeric_limits<int32_t>::min();  // below the key of -infinity
constexpr int32_t kLargest = std::numeric_limits<int32_t>::max();   // above the key of infinity
// How many bits of a node's word the column may take: few columns leave room for large trees. As constants, they cost
// nothing to take apart.
constexpr std::array<unsigned, 3> kShifts = {8, 12, 16};
// Deeper trees ask every few steps whether all rows are at their leaves.
constexpr uint32_t kAllSteps = 8;
constexpr uint32_t kStepsBetween = 2;

int32_t key_at_most(double t) { return float_key(float_at_most(t)); }

// The largest key of numbers below t.
int32_t key_below(double t) {
  return t == -std::numeric_limits<double>::infinity() ? kSmallest : float_key(float_below(t));
}

// A row goes to the true child when the key of its column is not above this.
int32_t branch_key(const TreeNode& node) {
  const double t = node.threshold;
  if (std::isnan(t)) return kSmallest;
  switch (node.mode()) {
    case TreeMode::less: return key_below(t);
    // ~key falls as the key rises; key > k where ~key < ~k.
    case TreeMode::greater: return ~key_at_most(t) - 1;
    case TreeMode::greater_equal: return ~key_below(t) - 1;
    default: return key_at_most(t);
  }
}

}  // namespace

KeyedTrees::Column KeyedTrees::column_of(const TreeNode& node) {
  return {node.feature, node.mode() == TreeMode::greater || node.mode() == TreeMode::greater_equal,
          node.mode() == TreeMode::less_equal_or_zero, node.missing_goes_true != 0 ? kSmallest : kLargest};
}

// Sets shift_ and columns_.
bool KeyedTrees::fits(std::span<const TreeNode> nodes, std::span<const uint32_t> roots) {
  constexpr size_t kMostColumns = (size_t{1} << kShifts.back()) / kLanes;
  for (const TreeNode& node : nodes) {
    if (node.is_leaf()) continue;
    if (!tests_order(node.mode()) && node.mode() != TreeMode::less_equal_or_zero) return false;
    const Column column = column_of(node);
    const auto at = std::lower_bound(columns_.begin(), columns_.end(), column);
    if (at != columns_.end() && *at == column) continue;
    if (columns_.size() == kMostColumns) return false;
    columns_.insert(at, column);
  }
  size_t largest = 0;
  for (size_t t = 0; t < roots.size(); t++) {
    largest = std::max(largest, (t + 1 < roots.size() ? size_t{roots[t + 1]} : nodes.size()) - roots[t]);
  }
  for (const unsigned shift : kShifts) {
    if (columns_.size() * kLanes > size_t{1} << shift) continue;
    if (largest > size_t{1} << (32 - shift)) return false;
    shift_ = shift;
    return true;
  }
  return false;
}

KeyedTrees::KeyedTrees(std::span<const TreeNode> nodes, std::span<const uint32_t> roots) {
  if (!fits(nodes, roots)) {
    columns_.clear();
    return;
  }
  nodes_.resize(nodes.size());
  std::vector<uint32_t> depths;  // of a tree's nodes
  for (size_t t = 0; t < roots.size(); t++) {
    const uint32_t root = roots[t];
    const auto end = static_cast<uint32_t>(t + 1 < roots.size() ? size_t{roots[t + 1]} : nodes.size());
    depths.assign(end - root, 0);
    for (uint32_t i = root; i < end; i++) {
      const TreeNode& node = nodes[i];
      if (node.is_leaf()) {
        nodes_[i] = {kLargest, (i - root) << shift_};
        continue;
      }
      const auto column = std::lower_bound(columns_.begin(), columns_.end(), column_of(node)) - columns_.begin();
      const uint32_t child = node.child - root;
      nodes_[i] = {branch_key(node), (child << shift_) | static_cast<uint32_t>(column * kLanes)};
      depths[child] = depths[child + 1] = depths[i - root] + 1;
    }
    trees_.push_back({root, std::ranges::max(depths)});
  }
}

template <class T>
void KeyedTrees::write_keys(const T* x, size_t rows, size_t width, int32_t* keys) const {
  for (const Column& column : columns_) {
    for (size_t i = 0; i < rows; i++) {
      const auto value = static_cast<float>(x[i * width + column.feature]);
      const bool missing = std::isnan(value) || (column.zero_is_missing && is_tree_zero(value));
      const int32_t key = float_key(value);
      keys[i] = missing ? column.missing : column.negated ? ~key : key;
    }
    std::fill(keys + rows, keys + kLanes, 0);
    keys += kLanes;
  }
}

// The steps of all lanes are independent, so their loads overlap. next(lane, place) is where a step leads.
template <size_t kCount, class Next>
inline void step_to_leaves(uint32_t depth, uint32_t (&at)[kCount], const Next& next) {
  if (depth <= kAllSteps) {
    for (uint32_t step = 0; step < depth; step++) {
      for (size_t k = 0; k < kCount; k++) at[k] = next(k, at[k]);
    }
    return;
  }
  for (uint32_t moved = 1; moved != 0;) {
    for (uint32_t step = 1; step < kStepsBetween; step++) {
      for (size_t k = 0; k < kCount; k++) at[k] = next(k, at[k]);
    }
    moved = 0;
    for (size_t k = 0; k < kCount; k++) {
      const uint32_t to = next(k, at[k]);
      moved |= to ^ at[k];
      at[k] = to;
    }
  }
}

template <unsigned kShift>
void KeyedTrees::walk_rows(const Tree& tree, const int32_t* keys, size_t groups, uint32_t* leaves) const {
  const Node* const nodes = nodes_.data() + tree.root;
  for (size_t g = 0; g < groups; g++, keys += columns_.size() * kLanes, leaves += kLanes) {
    uint32_t at[kLanes] = {};
    step_to_leaves(tree.depth, at, [&](size_t k, uint32_t from) {
      const Node& node = nodes[from];
      const int32_t key = keys[(node.word & ((1U << kShift) - 1)) + k];
      return (node.word >> kShift) + (key > node.key ? 1U : 0U);
    });
    for (size_t k = 0; k < kLanes; k++) leaves[k] = tree.root + at[k];
  }
}

template <unsigned kShift>
void KeyedTrees::walk_trees(const Tree* trees, const int32_t* keys, uint32_t* leaves) const {
  const Node* roots[kLanes];
  uint32_t depth = 0;
  for (size_t k = 0; k < kLanes; k++) {
    roots[k] = nodes_.data() + trees[k].root;
    depth = std::max(depth, trees[k].depth);
  }
  uint32_t at[kLanes] = {};
  step_to_leaves(depth, at, [&](size_t k, uint32_t from) {
    const Node& node = roots[k][from];
    const int32_t key = keys[node.word & ((1U << kShift) - 1)];
    return (node.word >> kShift) + (key > node.key ? 1U : 0U);
  });
  for (size_t k = 0; k < kLanes; k++) leaves[k] = trees[k].root + at[k];
}

void KeyedTrees::leaves_of_rows(size_t tree, const int32_t* keys, size_t groups, uint32_t* leaves) const {
  switch (shift_) {
    case kShifts[0]: return walk_rows<kShifts[0]>(trees_[tree], keys, groups, leaves);
    case kShifts[1]: return walk_rows<kShifts[1]>(trees_[tree], keys, groups, leaves);
    default: return walk_rows<kShifts[2]>(trees_[tree], keys, groups, leaves);
  }
}

void KeyedTrees::leaves_of_trees(size_t first_tree, size_t trees, const int32_t* keys, size_t lane,
                                 uint32_t* leaves) const {
  // The last tree stands in for those that are not there.
  Tree together[kLanes];
  for (size_t k = 0; k < kLanes; k++) together[k] = trees_[first_tree + std::min(k, trees - 1)];
  switch (shift_) {
    case kShifts[0]: return walk_trees<kShifts[0]>(together, keys + lane, leaves);
    case kShifts[1]: return walk_trees<kShifts[1]>(together, keys + lane, leaves);
    default: return walk_trees<kShifts[2]>(together, keys + lane, leaves);
  }
}

template void KeyedTrees::write_keys(const float*, size_t, size_t, int32_t*) const;
template void KeyedTrees::write_keys(const int32_t*, size_t, size_t, int32_t*) const;
template void KeyedTrees::write_keys(const int64_t*, size_t, size_t, int32_t*) const;

}  // namespace assay

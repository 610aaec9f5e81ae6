#include "assay/explain/games/reduced_trees.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay {
namespace {

constexpr uint8_t kAsked = 0;  // the branch asks
constexpr uint8_t kAbsent = 1;
constexpr uint8_t kPresent = 2;

// Sums stay below 2^61, so that their roundings have room as well.
constexpr int kSumBits = 61;
constexpr int kMostScaleBits = 1000;
constexpr uint32_t kMostCounted = 62;

}  // namespace

void ReducedTrees::reduce(const TreeEnsemble& trees, std::span<const uint32_t> roots,
                          std::span<const uint32_t> of_column, size_t players, std::span<const float> row,
                          std::span<const float> reference) {
  nodes_.clear();
  first_.clear();
  trees_.clear();
  players_.clear();
  state_.assign(players, kAsked);
  last_tree_.assign(players, 0);
  for (const uint32_t root : roots) reduce_tree(trees, root, of_column, row, reference);
}

void ReducedTrees::reduce_tree(const TreeEnsemble& trees, uint32_t root, std::span<const uint32_t> of_column,
                               std::span<const float> row, std::span<const float> reference) {
  const std::span<const TreeNode> nodes = trees.nodes();
  ReducedTree made;
  made.begin = static_cast<uint32_t>(nodes_.size());
  made.first_player = static_cast<uint32_t>(players_.size());
  const auto number = static_cast<uint32_t>(trees_.size() + 1);
  uint32_t at = root;
  uint32_t absent = 0;
  for (;;) {
    for (const TreeNode* node = &nodes[at]; !node->is_leaf(); node = &nodes[at]) {
      const uint32_t feature = node->feature;
      const uint32_t player = of_column[feature];
      const uint8_t state = state_[player];
      if (state != kAsked) {
        at = node->child + (trees.goes_true(*node, state == kAbsent ? reference[feature] : row[feature]) ? 0U : 1U);
        continue;
      }
      const uint32_t if_present = node->child + (trees.goes_true(*node, row[feature]) ? 0U : 1U);
      at = node->child + (trees.goes_true(*node, reference[feature]) ? 0U : 1U);
      if (at == if_present) continue;
      waiting_.push_back(
          {if_present, static_cast<uint32_t>(nodes_.size()), static_cast<uint32_t>(path_.size()), absent});
      nodes_.push_back({player, 0});
      first_.push_back(0);
      path_.push_back(player);
      state_[player] = kAbsent;
      absent++;
      if (last_tree_[player] != number) {
        last_tree_[player] = number;
        players_.push_back(player);
      }
    }
    nodes_.push_back({kReducedLeaf, at});
    first_.push_back(nodes[at].threshold);
    made.terms += static_cast<double>(uint64_t{1} << std::min(absent, kMostCounted));
    if (waiting_.empty()) break;
    const Waiting next = waiting_.back();
    waiting_.pop_back();
    for (; path_.size() > next.path + 1; path_.pop_back()) state_[path_.back()] = kAsked;
    state_[path_.back()] = kPresent;
    nodes_[next.slot].present = static_cast<uint32_t>(nodes_.size());
    at = next.node;
    absent = next.absent;
  }
  for (const uint32_t player : path_) state_[player] = kAsked;
  path_.clear();
  made.player_count = static_cast<uint32_t>(players_.size()) - made.first_player;
  trees_.push_back(made);
}

void ReducedTrees::take_values(const TreeEnsemble& trees, size_t target, std::span<const uint32_t> which) {
  const auto end_of = [&](uint32_t t) { return t + 1 < trees_.size() ? trees_[t + 1].begin : nodes_.size(); };
  const double* exact = first_.data();
  if (target > 0) {
    exact_.resize(nodes_.size());
    exact = exact_.data();
    for (const uint32_t t : which) {
      for (size_t i = trees_[t].begin; i < end_of(t); i++) {
        exact_[i] = nodes_[i].is_leaf() ? trees.leaf_weight(trees.nodes()[nodes_[i].present], target) : 0;
      }
    }
  }
  double bound = 0;
  for (const uint32_t t : which) {
    double largest = 0;
    for (size_t i = trees_[t].begin; i < end_of(t); i++) largest = std::max(largest, std::abs(exact[i]));
    bound += largest;
  }
  const int scale = bound > 0 ? std::min(kSumBits - std::ilogb(bound) - 1, kMostScaleBits) : 0;
  quantum_ = std::ldexp(1.0, -scale);
  const double quanta = std::ldexp(1.0, scale);
  values_.resize(nodes_.size());
  for (const uint32_t t : which) {
    for (size_t i = trees_[t].begin; i < end_of(t); i++) {
      values_[i] = static_cast<uint64_t>(static_cast<int64_t>(exact[i] * quanta));
    }
  }
}

template <class Visit>
void ReducedTrees::for_leaves(size_t t, std::span<const uint32_t> bit_of, const Visit& visit) {
  Side side = {trees_[t].begin, 0, 0};
  for (;;) {
    const ReducedNode& node = nodes_[side.at];
    if (node.is_leaf()) {
      visit(side.present, side.absent, values_[side.at]);
      if (sides_.empty()) return;
      side = sides_.back();
      sides_.pop_back();
      continue;
    }
    const uint32_t bit = bit_of[node.player];
    if (bit == kAlwaysPresent) {
      side.at = node.present;
      continue;
    }
    if (bit != kNeverPresent) sides_.push_back({node.present, side.present | bit, side.absent});
    side.at++;
    side.absent |= bit;
  }
}

void ReducedTrees::add_terms(size_t t, std::span<const uint32_t> bit_of, uint64_t* coefficients) {
  // value * product of x_p over present ones * product of (1 - x_p) over absent ones, multiplied out.
  for_leaves(t, bit_of, [&](uint32_t present, uint32_t absent, uint64_t value) {
    for (uint32_t part = absent;; part = (part - 1) & absent) {
      coefficients[present | part] += (std::popcount(part) & 1) != 0 ? -value : value;
      if (part == 0) break;
    }
  });
}

void ReducedTrees::add_cells(size_t t, std::span<const uint32_t> bit_of, uint32_t all, uint64_t* values) {
  for_leaves(t, bit_of, [&](uint32_t present, uint32_t absent, uint64_t value) {
    const uint32_t free = all & ~(present | absent);
    for (uint32_t part = free;; part = (part - 1) & free) {
      values[present | part] += value;
      if (part == 0) break;
    }
  });
}

}  // namespace assay

// Trees as the coalitions of one row and reference row see them.
//
// A branch where the row and the reference row go the same way is decided, and so is one whose player was asked before
// on the way to it. What is left asks players alone: "is the player in the coalition?". Such a reduced tree has few
// nodes, and a value for a coalition needs no row.
//
// Leaf values are whole multiples of one quantum, a power of two that depends on the row, the reference row and the
// target alone. So sums are exact, in any order and through any transform (modulo 2^64, whose wraps cancel), and all
// ways to a coalition's value end in the same bits. The quantum is at most 2^-60 of the largest sum that leaves could
// have: less than what a sum of doubles of that size loses. A coalition that reaches small leaves alone, beside others
// 2^36 times as large, has fewer digits than float32.
//
// Cost of a reduction: two comparisons for each node that some coalition reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/model/trees/ensemble.h"

namespace assay {

inline constexpr uint32_t kReducedLeaf = std::numeric_limits<uint32_t>::max();

// A tree's nodes stand in order, a branch before its two sides. The side of an absent player follows it.
struct ReducedNode {
  uint32_t player = 0;   // kReducedLeaf for a leaf
  uint32_t present = 0;  // branch: where the side of the player in the coalition begins; leaf: its node in the ensemble
  bool is_leaf() const { return player == kReducedLeaf; }
};

struct ReducedTree {
  uint32_t begin = 0;  // in nodes
  uint32_t first_player = 0;
  uint32_t player_count = 0;  // different ones that it asks
  double terms = 0;           // what add_terms adds at most: for each leaf 2^(absent players on the way to it)
};

// What add_terms and add_cells know of a player: its bit in the table's index, or that it is in all coalitions of the
// table, or in none.
inline constexpr uint32_t kNeverPresent = 0;
inline constexpr uint32_t kAlwaysPresent = uint32_t{1} << 31;

class ReducedTrees {
 public:
  // of_column: the player of each feature. Memory of the last reduction is used again.
  void reduce(const TreeEnsemble& trees, std::span<const uint32_t> roots, std::span<const uint32_t> of_column,
              size_t players, std::span<const float> row, std::span<const float> reference);
  // The values of these trees' leaves for a target, in quanta. Weights and their sums are finite.
  void take_values(const TreeEnsemble& trees, size_t target, std::span<const uint32_t> which);

  size_t size() const { return trees_.size(); }
  const ReducedTree& tree(size_t t) const { return trees_[t]; }
  std::span<const uint32_t> players(size_t t) const {
    return {players_.data() + trees_[t].first_player, trees_[t].player_count};
  }
  double quantum() const { return quantum_; }

  // The value of a coalition; has(player).
  template <class Has>
  uint64_t value(size_t t, const Has& has) const {
    uint32_t at = trees_[t].begin;
    while (!nodes_[at].is_leaf()) at = has(nodes_[at].player) ? nodes_[at].present : at + 1;
    return values_[at];
  }
  // Adds the tree as a polynomial in its players (1 for present ones, 0 for absent ones) to the coefficients, indexed
  // by sets of players: sums over subsets of the coefficients are then values.
  void add_terms(size_t t, std::span<const uint32_t> bit_of, uint64_t* coefficients);
  // Adds the tree to the values of all subsets of `all`, the bits of all players of the table.
  void add_cells(size_t t, std::span<const uint32_t> bit_of, uint32_t all, uint64_t* values);

 private:
  struct Waiting {  // the other side of a branch, while one side is reduced
    uint32_t node, slot, path, absent;
  };
  struct Side {
    uint32_t at, present, absent;
  };
  void reduce_tree(const TreeEnsemble& trees, uint32_t root, std::span<const uint32_t> of_column,
                   std::span<const float> row, std::span<const float> reference);
  // visit(bits of players that must be present, of those that must be absent, value) for the leaves that remain.
  template <class Visit>
  void for_leaves(size_t t, std::span<const uint32_t> bit_of, const Visit& visit);

  std::vector<ReducedNode> nodes_;
  std::vector<uint64_t> values_;       // of leaves, at their place in nodes_
  std::vector<double> first_, exact_;  // likewise: of target 0, and of the target that was taken
  std::vector<ReducedTree> trees_;
  std::vector<uint32_t> players_;
  double quantum_ = 1;
  // While trees are reduced or visited.
  std::vector<uint8_t> state_;       // of each player on the way to a node
  std::vector<uint32_t> last_tree_;  // that asks a player, counted from 1
  std::vector<uint32_t> path_;
  std::vector<Waiting> waiting_;
  std::vector<Side> sides_;
};

}  // namespace assay

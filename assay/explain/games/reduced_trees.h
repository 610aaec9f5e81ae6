// Trees as the coalitions of one row and reference row see them.
//
// A branch where the row and the reference row go the same way is decided. So is a branch whose player was already
// tested above it. The branches that are left only ask: "is the player in the coalition?". Such a reduced tree has few
// nodes, and the value of a coalition needs no row.
//
// Leaf values are rounded to whole multiples of one quantum, a power of two that depends only on the row, the reference
// row and the target. So sums are exact in any order (modulo 2^64, whose wraps cancel), and all ways to compute a
// coalition's value give the same bits. The quantum is at most 2^-60 of the largest possible sum, less than the
// rounding of a sum of doubles. Only a coalition that reaches leaves 2^36 times smaller than the largest has fewer
// digits than float32.
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

// The nodes of a tree are stored with a branch before its two sides. The side of an absent player follows the branch.
struct ReducedNode {
  uint32_t player = 0;   // kReducedLeaf for a leaf
  uint32_t present = 0;  // branch: where the side of the player in the coalition begins; leaf: its node in the ensemble
  bool is_leaf() const { return player == kReducedLeaf; }
};

struct ReducedTree {
  uint32_t begin = 0;  // in nodes
  uint32_t first_player = 0;
  uint32_t player_count = 0;  // different players that its branches test
  double terms = 0;           // the most terms of add_terms: for each leaf 2^(absent players on the way to it)
};

// Values of bit_of in add_terms and add_cells: a player's bit in the table's index, or one of these if it is in no
// coalition of the table, or in all.
inline constexpr uint32_t kNeverPresent = 0;
inline constexpr uint32_t kAlwaysPresent = uint32_t{1} << 31;

class ReducedTrees {
 public:
  // of_column: the player of each feature. Reuses the memory of the last reduction.
  void reduce(const TreeEnsemble& trees, std::span<const uint32_t> roots, std::span<const uint32_t> of_column,
              size_t players, std::span<const float> row, std::span<const float> reference);
  // Sets the values of these trees' leaves for a target, in quanta. Weights and their sums must be finite.
  void take_values(const TreeEnsemble& trees, size_t target, std::span<const uint32_t> which);

  size_t size() const { return trees_.size(); }
  const ReducedTree& tree(size_t t) const { return trees_[t]; }
  std::span<const uint32_t> players(size_t t) const {
    return {players_.data() + trees_[t].first_player, trees_[t].player_count};
  }
  double quantum() const { return quantum_; }

  // The value of a coalition, in quanta. has(player): whether the player is in it.
  template <class Has>
  uint64_t value(size_t t, const Has& has) const {
    uint32_t at = trees_[t].begin;
    while (!nodes_[at].is_leaf()) at = has(nodes_[at].player) ? nodes_[at].present : at + 1;
    return values_[at];
  }
  // Adds the tree, as a polynomial in its players (1 if present, 0 if absent), to the coefficients, which are indexed
  // by sets of players. The value of a coalition is then the sum of the coefficients of all its subsets.
  void add_terms(size_t t, std::span<const uint32_t> bit_of, uint64_t* coefficients);
  // Adds the tree's value to values[m] for all subsets m of `all`, the bits of all players of the table.
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
  // Calls visit(bits of players that must be present, bits of players that must be absent, value) for each reachable
  // leaf.
  template <class Visit>
  void for_leaves(size_t t, std::span<const uint32_t> bit_of, const Visit& visit);

  std::vector<ReducedNode> nodes_;
  std::vector<uint64_t> values_;       // of leaves, at their place in nodes_
  std::vector<double> first_, exact_;  // likewise, before rounding: for target 0, and for the target taken last
  std::vector<ReducedTree> trees_;
  std::vector<uint32_t> players_;
  double quantum_ = 1;
  // While trees are reduced or visited.
  std::vector<uint8_t> state_;       // of each player on the way to a node
  std::vector<uint32_t> last_tree_;  // by player: the last tree that tests it, counted from 1
  std::vector<uint32_t> path_;
  std::vector<Waiting> waiting_;
  std::vector<Side> sides_;
};

}  // namespace assay

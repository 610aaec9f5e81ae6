// Path-dependent Shapley values of trees of any depth, exact. The value of a coalition is the trees' score, where a
// branch of an absent player averages its children by their covers, the numbers of training rows that came there
// (Lundberg et al., "From local explanations to global understanding with explainable AI for trees", 2020).
//
// For a leaf of weight w and the distinct players on its path, with q_j = 1 where the row meets all conditions of j and
// else 0, and r_j the product of cover(child) / cover(node) over j's branches,
//
//   phi_j = w * integral from 0 to 1 of (q_j - r_j) * product over i != j of (r_i + t (q_i - r_i)) dt,
//
// which is the Owen form of the Shapley value of a product of one-player games. It is a polynomial in t, so
// Gauss-Legendre points give it exactly (half as many as players on the path, rounded up). If no child's cover is above
// its parent's, all factors lie between 0 and 1. So nothing cancels and deep trees lose no digits, unlike with the
// coefficients of the polynomial. For k > 81 players 4.5 sqrt(k) points are enough: the factors' roots lie outside of
// (0, 1), and integrals of t^a (1 - t)^b are then right to 12 digits. A walk keeps the product of the factors for each
// point on its way down and sums leaves on its way up, so it takes nodes * points steps for all players together.
// Vector code handles 8 points in one walk; more points take more walks.
//
// A node of cover 0 sends half to each child, where tree libraries would divide by zero. Covers of two children that do
// not sum to their parent's are taken as they are, as XGBoost and LightGBM do.
//
// Nothing recurses; memory grows with the depth of the tree at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/explain/players.h"
#include "assay/explain/trees/tree_selection.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

class PathWalk {
 public:
  static constexpr size_t kLanes = 8;
  static constexpr uint32_t kNoFrame = std::numeric_limits<uint32_t>::max();
  using Lanes = std::array<double, kLanes>;  // one number for each point

  // Points of a rule.
  struct Points {
    alignas(64) Lanes at{};
    alignas(64) Lanes rest{};           // 1 - at
    alignas(64) Lanes inverse_rests{};  // 1 / rest
    alignas(64) Lanes weights{};
  };
  // A branch on the path while its children are walked: first the child that the row does not take.
  struct Frame {
    alignas(64) Lanes values{};    // products on the way down, then the sums of the first child
    alignas(64) Lanes inverses{};  // 1 / the player's factors in the child that the row takes
    double share = 1;              // r of the player there
    uint32_t child = 0;            // the second
    uint32_t player = 0;
    uint32_t outer = kNoFrame;  // the player's next frame above, where the row meets its conditions too
    uint8_t stage = 0;
  };
  struct PlayerState {
    alignas(64) Lanes values{};     // its sums at each point
    uint32_t innermost = kNoFrame;  // its lowest frame on the path
    bool row_failed = false;
  };
  // The memory of one thread; it can be reused for other rows and other walks.
  struct Scratch {
    std::vector<Frame> frames;
    std::vector<PlayerState> players;  // of each row
  };
  // One walk of a tree.
  struct Job {
    const TreeEnsemble& trees;
    const Players& players;
    uint32_t root = 0;
    const double* shares = nullptr;  // of the tree's nodes
    const float* row = nullptr;
    size_t target = 0;
    PlayerState* states = nullptr;  // of the players
  };

  // roots: positions in trees.roots(), each at most once. trees.covers() must not be empty. The ensemble must sum or
  // average its trees. trees and players must outlive this object.
  PathWalk(const TreeEnsemble& trees, const std::vector<uint32_t>& roots, const Players& players);

  // phi[p] += the Shapley value of player p for this row and target, summed over the trees, times trees.tree_share().
  // Safe from several threads at once, each with its own scratch.
  void add(std::span<const float> row, size_t target, std::span<double> phi, Scratch& scratch) const;
  // The same for several rows, with the same bits; phi[i] is for row i. Faster: a tree stays in the cache for all rows.
  void add_rows(std::span<const float* const> rows, size_t target, MatrixView<double> phi, Scratch& scratch) const;

  // The value of the empty coalition without trees.base(): the trees' mean score by covers, times trees.tree_share().
  double base(size_t target) const;

 private:
  size_t most_players_on_path(const SelectedTree& tree) const;

  const TreeEnsemble& trees_;
  const Players& players_;
  TreeSelection selection_;
  std::vector<double> shares_;  // for each node of the selection, cover(node) / cover(parent)
  std::vector<std::vector<Points>> rules_;
  std::vector<uint32_t> rule_of_tree_;
};

}  // namespace assay

// Interventional Shapley values of trees of any depth, exact: the game whose value for a coalition is the mean, over
// the reference rows, of the trees' score of the row with the reference's columns for all players outside.
//
// For a row x, a reference r and a leaf, the conditions of a player on the path to the leaf are met by both, by x
// alone, by r alone or by neither; in the last case no mixture of x and r reaches the leaf. Otherwise let x alone meet
// the conditions of a players, and r alone those of b players. Exactly the coalitions with all of the first and none of
// the second reach the leaf. For a leaf of weight w (Lundberg et al., "From local explanations to global understanding
// with explainable AI for trees", 2020, give the same form)
//
//   each of the a gets w (a - 1)! b! / (a + b)!,    each of the b gets -w a! (b - 1)! / (a + b)!.
//
// One walk of a tree serves up to 256 references, kept as sets of bits: at each node, those that can still reach it.
// Take a branch of player j whose conditions x met so far. The references that leave x here, at a branch of j for the
// first time, count j as "r alone" in the child that x does not take, and as "x alone" in the child that x takes. If
// there are none, the first of these children is not entered. Each leaf adds to one sum for each reference, and to one
// sum for the b side. A player gets the growth of these sums between entering and leaving its branch. So a walk takes a
// few steps for each node that a reference reaches, and for each reference and leaf that mixtures of it and x reach,
// however many players are on the path. The shares of a reference's leaves sum to at most 1, so the sums stay as small
// as the leaves' weights at any depth.
//
// Nothing recurses; memory grows with the depth of the tree at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/explain/players.h"
#include "assay/explain/trees/tree_selection.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

class InterventionalWalk {
 public:
  // The memory of one thread; it can be reused for other rows and other walks.
  class Scratch;

  // roots: positions in trees.roots(), each at most once. references: at least one row. The ensemble must sum or
  // average its trees. trees and players must outlive this object.
  InterventionalWalk(const TreeEnsemble& trees, const std::vector<uint32_t>& roots, const Players& players,
                     MatrixView<const float> references);

  // phi[p] += the Shapley value of player p for this row and target, summed over the trees, times trees.tree_share().
  // Safe from several threads at once, each with its own scratch.
  void add(std::span<const float> row, size_t target, std::span<double> phi, Scratch& scratch) const;
  // The same for several rows, with the same bits; phi[i] is for row i. Faster: a tree stays in the cache for all rows.
  void add_rows(std::span<const float* const> rows, size_t target, MatrixView<double> phi, Scratch& scratch) const;

 private:
  static constexpr size_t kMostWords = 4;  // of 64 references
  struct Node;
  struct Share {
    double gain = 0;  // of each player that the row alone satisfies
    double loss = 0;  // of each that the reference alone satisfies
  };
  // At most kMostWords * 64 references.
  struct Block {
    size_t references = 0;
    size_t words = 1;            // 1, 2 or 4
    std::vector<uint64_t> sets;  // words each: the references that go to the true child
  };
  // The walk of one tree for one block.
  template <size_t kWords>
  class Walker;

  void make_nodes(MatrixView<const float> references);
  Share share(size_t row_only, size_t reference_only) const;

  const TreeEnsemble& trees_;
  const Players& players_;
  TreeSelection selection_;
  std::vector<Node> nodes_;  // of the selection
  std::vector<Block> blocks_;
  size_t all_references_ = 0;
  // shares_[b * (table_ + 1) + a] for a, b <= table_.
  size_t table_ = 0;
  std::vector<Share> shares_;
  std::vector<long double> log_factorials_;  // for more players than table_
};

// A node as a walk reads it, in a quarter of a cache line.
struct InterventionalWalk::Node {
  enum class Kind : uint8_t { leaf, less_equal, other };
  struct Branch {
    float threshold;  // of less_equal, which `less` becomes too
    uint32_t set;
  };
  union {
    Branch branch;
    double weight = 0;  // for target 0
  };
  uint32_t child = 0;  // the true one, its number in the selection
  uint32_t feature : 27 = 0;
  uint32_t kind_bits : 4 = 0;
  uint32_t missing_goes_true : 1 = 0;

  Kind kind() const { return static_cast<Kind>(kind_bits); }
};

class InterventionalWalk::Scratch {
  friend class InterventionalWalk;
  struct Reference {
    double gained = 0;      // sum of the leaves' shares for a player whose conditions only the row meets
    uint32_t row_only = 0;  // number of such players on the path
  };
  // A branch on the path whose second child is still to be walked.
  struct Frame {
    std::array<uint64_t, kMostWords> references{};  // that reach the second child
    std::array<uint64_t, kMostWords> turning{};
    double before = 0;
    uint32_t child = 0;
    uint32_t player = 0;
    uint8_t stage = 0;
  };
  // The same where one reference is left.
  struct SingleFrame {
    double before = 0;
    uint32_t child = 0;
    uint32_t player = 0;
    bool is_row_side = false;
  };
  std::vector<Frame> frames_;
  std::vector<SingleFrame> single_frames_;
  std::vector<Reference> references_;
  std::vector<uint8_t> row_failed_;  // for each player
  std::vector<uint64_t> turned_;     // for each player the references that have turned away from the row
};

}  // namespace assay

// Interventional Shapley values of trees of any depth, exact: the game whose value for a coalition is the mean, over
// the reference rows, of the trees' score of the row with the reference's columns for all players outside.
//
// For a row x, a reference r and a leaf, a player's conditions on the path to the leaf are met by both, by x alone, by
// r alone or by neither; in the last case no mixture of the two reaches the leaf. Else, with a players that x alone
// satisfies and b that r alone does, exactly the coalitions with all of the first and none of the second reach it, and
// for a leaf of weight w (Lundberg et al., "From local explanations to global understanding with explainable AI for
// trees", 2020, give the same form)
//
//   each of the a gets w (a - 1)! b! / (a + b)!,    each of the b gets -w a! (b - 1)! / (a + b)!.
//
// One walk of a tree serves up to 256 references, as sets of bits. Those that can still reach a node are known; at a
// branch of player j that x satisfied so far, the references that turn away from x here for the first time of j go on
// as "r alone" in the child that x does not take, and as "x alone" in the child that it takes; if there are none, the
// first child is not entered at all. Leaves add to one sum for each reference and to one for the b side; what a player
// gets is by how much its references' sums grew between entering and leaving its edge. So a walk takes a few steps for
// each node that any reference reaches, and a few for each reference and leaf that mixtures of it and x reach, however
// many players are on the path. The shares of a reference's leaves sum to 1 at most, so that these sums never outgrow
// the leaves' weights, whatever the depth.
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
  // What one thread works in; it may go from row to row and from walk to walk.
  class Scratch;

  // roots: positions in trees.roots(), each at most once. references: at least one row. The ensemble sums or averages.
  // All arguments must outlive it, but for roots and references, of which it keeps what it needs.
  InterventionalWalk(const TreeEnsemble& trees, const std::vector<uint32_t>& roots, const Players& players,
                     MatrixView<const float> references);

  // phi[p] += the Shapley value of player p for this row and target, summed over the trees, times trees.tree_share().
  // Safe from several threads at once, each with its own scratch.
  void add(std::span<const float> row, size_t target, std::span<double> phi, Scratch& scratch) const;
  // The same, to the last bit, for several rows, phi[i] for the i-th: a tree stays in the cache while they all walk it.
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
  std::vector<long double> log_factorials_;  // for more players
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
    double gained = 0;      // the leaves' shares for each player that the row alone satisfies
    uint32_t row_only = 0;  // those players on the path
  };
  // A branch whose second child waits.
  struct Frame {
    std::array<uint64_t, kMostWords> references{};  // that reach that child
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

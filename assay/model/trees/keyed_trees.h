// Fast walks through trees whose branches all compare a float32 feature with a number by order.
//
// A feature becomes an integer, its key. Keys have the order of the float32 numbers (-0 and 0 have one key), and every
// branch becomes the test "key <= the branch's key". Nothing is rounded: for a float32 x and a double t, x <= t is the
// same as x <= the largest float32 number that is at most t. Missing values need no test of their own: a column whose
// nodes send them to the true child gives them the smallest key, one whose nodes send them to the false child the
// largest. A feature has one column for each way in which nodes read it. A leaf leads to itself, so rows in one tree
// step together, without branches, until the last is at its leaf.
//
// Nodes have the same positions as in the ensemble, and 8 bytes each. Which leaf a row reaches does not depend on the
// rows beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

struct TreeNode;

class KeyedTrees {
 public:
  // Rows that step together.
  static constexpr size_t kLanes = 8;

  KeyedTrees() = default;
  // All nodes of an ensemble, trees one after the other and children after their parents. Not usable() if a branch
  // tests for membership or equality, or if the numbers of nodes in a tree and of columns do not fit into a Node.
  KeyedTrees(std::span<const TreeNode> nodes, std::span<const uint32_t> roots);

  bool usable() const { return shift_ != 0; }
  size_t columns() const { return columns_.size(); }

  // The keys of up to kLanes rows: columns() x kLanes numbers. Lanes without a row get zeros.
  template <class T>
  void write_keys(const T* x, size_t rows, size_t width, int32_t* keys) const;

  // The leaves, as positions in the ensemble's nodes, that rows reach in one tree. keys: of `groups` times kLanes rows.
  void leaves_of_rows(size_t tree, const int32_t* keys, size_t groups, uint32_t* leaves) const;
  // The leaves that the row of one lane reaches in up to kLanes trees.
  void leaves_of_trees(size_t first_tree, size_t trees, const int32_t* keys, size_t lane, uint32_t* leaves) const;

 private:
  struct Node {
    int32_t key = 0;    // a row goes to `child` when its key is not above this one, else to the node after
    uint32_t word = 0;  // child relative to the root << shift_ | column * kLanes
  };
  struct Tree {
    uint32_t root = 0;
    uint32_t depth = 0;  // steps to the deepest leaf
  };
  struct Column {
    uint32_t feature = 0;
    bool negated = false;          // for branches that send large features to the true child
    bool zero_is_missing = false;  // up to 1e-35
    int32_t missing = 0;           // the key of missing values
    auto operator<=>(const Column&) const = default;
  };

  static Column column_of(const TreeNode& node);
  bool fits(std::span<const TreeNode> nodes, std::span<const uint32_t> roots);
  template <unsigned kShift>
  void walk_rows(const Tree& tree, const int32_t* keys, size_t groups, uint32_t* leaves) const;
  template <unsigned kShift>
  void walk_trees(const Tree* trees, const int32_t* keys, uint32_t* leaves) const;

  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  std::vector<Column> columns_;  // sorted
  unsigned shift_ = 0;           // 0: not usable
};

}  // namespace assay

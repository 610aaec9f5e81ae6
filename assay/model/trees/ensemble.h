// Ensembles of decision trees, as compact arrays: what tree models of all libraries compute before any transform of
// scores.
//
//   raw score of target t = base_t + sum (or average, minimum, maximum) over the trees of the weights for t at the leaf
//   that the row reaches
//
// A branch node compares one feature of the row with its threshold and sends the row to its true or its false child; a
// missing feature (NaN) follows the comparison, which is false except for !=, unless the node sends missing values to
// its true child. Features and thresholds are compared as doubles, which for float32 features and thresholds is the
// same as float32. Whole numbers are rounded to float32 first, as onnxruntime does and as models that were trained on
// float32 saw them. Sums run in double in the order of the trees: onnxruntime sums float32 ensembles in float32 and
// agrees to its rounding.
//
// Every node has one parent, so walks end. Depth is not limited, so nothing here recurses; code that visits all paths
// must keep its own stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/trees/keyed_trees.h"

namespace assay {

enum class TreeMode : uint8_t {
  less_equal = 0,  // 0 to 7 are ONNX's numbers
  less = 1,
  greater_equal = 2,
  greater = 3,
  equal = 4,
  not_equal = 5,
  member = 6,  // of a set of numbers
  leaf = 7,
  // The ones that ONNX does not have. Missing values go to the side that the node says.
  less_equal_or_zero = 8,  // x <= threshold, where a zero (up to 1e-35) is a missing value: LightGBM's zero_as_missing
  member_whole = 9,        // the whole part of x is a member; negative numbers are none: categories of boosters
};

inline constexpr size_t kTreeModes = 10;

// What less_equal_or_zero takes for zero, as LightGBM does.
inline constexpr double kTreeZero = 1e-35F;
inline bool is_tree_zero(double x) { return x >= -kTreeZero && x <= kTreeZero; }

// Whether a node tests for membership in a set; its threshold is then the number of the set.
inline bool has_set(TreeMode mode) { return mode == TreeMode::member || mode == TreeMode::member_whole; }

// Whether the mode sends all numbers below some point to one side and all above it to the other.
inline bool tests_order(TreeMode mode) {
  switch (mode) {
    case TreeMode::less_equal:
    case TreeMode::less:
    case TreeMode::greater_equal:
    case TreeMode::greater: return true;
    default: return false;
  }
}

enum class TreeAggregate { average = 0, sum = 1, minimum = 2, maximum = 3 };  // with ONNX's numbers
inline constexpr size_t kTreeAggregates = 4;

// 16 bytes. Children stand side by side: the true one at `child`, the false one after it.
struct TreeNode {
  // Branch: what the feature is compared with; of a member node the number of its set.
  // Leaf: the sum of its weights for target 0.
  double threshold = 0;
  uint32_t feature : 27 = 0;  // leaf: how many weights it has
  uint32_t mode_bits : 4 = 0;
  uint32_t missing_goes_true : 1 = 0;
  uint32_t child = 0;  // leaf: its first weight

  TreeMode mode() const { return static_cast<TreeMode>(mode_bits); }
  bool is_leaf() const { return mode() == TreeMode::leaf; }
};
static_assert(sizeof(TreeNode) == 16);

struct TreeWeight {
  uint32_t target = 0;
  double value = 0;
};

struct TreeSet {
  uint32_t first = 0;  // in members
  uint32_t count = 0;
};

// Trees as a file describes them, not checked yet: children may lead anywhere.
struct TreeSource {
  struct Node {
    TreeMode mode = TreeMode::leaf;
    bool missing_goes_true = false;
    int64_t feature = 0;
    double threshold = 0;   // of a member node the number of its set
    size_t true_child = 0;  // positions in nodes
    size_t false_child = 0;
    size_t first_weight = 0;  // leaf
    size_t weight_count = 0;
    double cover = std::numeric_limits<double>::quiet_NaN();  // training rows (or their weight) that came here
    int64_t tree = -1;  // tree and id name the node in messages; a negative tree is left out
    int64_t id = 0;
  };
  std::vector<Node> nodes;
  std::vector<size_t> roots;
  std::vector<TreeWeight> weights;
  std::vector<std::vector<double>> sets;
};

class TreeEnsemble {
 public:
  TreeEnsemble() = default;
  // base: one for each target, or empty. An input error that starts with `where` when a child, feature, weight or
  // target does not exist, a branch is reached twice, or leaves share weights. Several branches may lead to one leaf,
  // but only so often that a small file does not become a huge ensemble. Chains of "feature = value" tests that share
  // their true child, which converters write for sets, become one member node. Unreachable nodes are left out.
  TreeEnsemble(std::string_view where, const TreeSource& source, size_t features, size_t targets,
               TreeAggregate aggregate, std::vector<double> base);

  size_t features() const { return features_; }
  size_t targets() const { return targets_; }
  TreeAggregate aggregate() const { return aggregate_; }
  std::span<const double> base() const { return base_; }
  std::span<const TreeNode> nodes() const { return nodes_; }
  std::span<const uint32_t> roots() const { return roots_; }
  // One for each node; empty if the source does not have all of them.
  std::span<const double> covers() const { return covers_; }
  bool adds_up() const { return aggregate_ == TreeAggregate::sum || aggregate_ == TreeAggregate::average; }
  // What a leaf's weights count for in a score: 1, or 1 / trees in an average.
  double tree_share() const {
    return aggregate_ == TreeAggregate::average && !roots_.empty() ? 1 / static_cast<double>(roots_.size()) : 1;
  }
  // In the order of their targets; those of one target in the order of the source.
  std::span<const TreeWeight> weights(const TreeNode& leaf) const {
    return {weights_.data() + leaf.child, size_t{leaf.feature}};
  }
  // The sum of a leaf's weights for a target.
  double leaf_weight(const TreeNode& leaf, size_t target) const {
    if (target == 0) return leaf.threshold;
    const std::span<const TreeWeight> own = weights(leaf);
    // Halves until few are left: leaves of many classes have many.
    size_t first = 0;
    for (size_t count = own.size(); count > 16;) {
      const size_t half = count / 2;
      first += own[first + half - 1].target < target ? half : 0;
      count -= half;
    }
    double sum = 0;
    for (size_t i = first; i < own.size() && own[i].target <= target; i++) {
      sum += own[i].target == target ? own[i].value : 0;
    }
    return sum;
  }
  // The numbers of a member node, sorted.
  std::span<const double> members(const TreeNode& node) const {
    const TreeSet& set = sets_[static_cast<size_t>(node.threshold)];
    return {members_.data() + set.first, set.count};
  }

  // Trees that reach for every float32 row the leaves that these reach for row - c, rounded to float32. c: one number
  // for each feature. Nothing if a shift is not finite, or a node tests a shifted feature by anything but order.
  std::optional<TreeEnsemble> shifted(std::span<const float> c) const;

  // Whether a row whose feature is x goes to the true child of a branch. Inlined for the two most common modes.
  bool goes_true(const TreeNode& node, double x) const {
    if (node.mode() == TreeMode::less_equal || node.mode() == TreeMode::less) {
      const bool below = node.mode() == TreeMode::less ? x < node.threshold : x <= node.threshold;
      return below | ((node.missing_goes_true != 0) & (x != x));
    }
    return goes_true_otherwise(node, x);
  }

  // Calls finish(row number, raw scores, scored) for every row in turn; scored[t] is not 0 if target t has any weight
  // or a base value. finish may change the scores. Rows go through the trees in blocks, so that a tree stays in the
  // cache.
  template <class T, class Finish>
  void for_rows(const T* x, size_t rows, size_t width, std::byte* scratch, const Finish& finish) const {
    auto* const totals = reinterpret_cast<double*>(scratch);
    auto* const scored = reinterpret_cast<uint8_t*>(totals + block_rows() * targets_);
    for (size_t begin = 0; begin < rows; begin += block_rows()) {
      const size_t count = std::min(block_rows(), rows - begin);
      raw_scores(x + begin * width, count, width, totals, scored);
      for (size_t i = 0; i < count; i++) {
        finish(begin + i, std::span<double>(totals + i * targets_, targets_), scored + i * targets_);
      }
    }
  }
  // Elements of scratch for for_rows, and their size.
  size_t scratch_count() const { return block_rows() * targets_; }
  static constexpr size_t kScratchSize = sizeof(double) + sizeof(uint8_t);

 private:
  size_t block_rows() const { return std::clamp<size_t>(4096 / targets_, 1, 128); }
  // Of one block: both arrays are rows x targets. T: float, double, int32_t or int64_t.
  template <class T>
  void raw_scores(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const;
  bool goes_true_otherwise(const TreeNode& node, double x) const;
  // kOnly: the mode of all branches, or leaf when they differ.
  template <TreeMode kOnly>
  bool decide(const TreeNode& node, double x) const;
  // The leaves that some rows reach.
  template <TreeMode kOnly, class T>
  void find_leaves(uint32_t root, const T* x, size_t rows, size_t width, uint32_t* at) const;
  template <TreeMode kOnly, class T>
  void add_trees(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const;
  // The same by way of keyed_.
  template <class T>
  void add_keyed_trees(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const;
  template <class T>
  void add_all_trees(const T* x, size_t rows, size_t width, double* totals, uint8_t* scored) const;
  void add_leaf_of_row(uint32_t leaf, size_t row, double* totals, uint8_t* scored) const;
  void add_leaf(const TreeNode& leaf, double* totals, uint8_t* scored) const;

  std::vector<TreeNode> nodes_;
  std::vector<double> covers_;
  std::vector<uint32_t> roots_;
  std::vector<TreeWeight> weights_;
  std::vector<TreeSet> sets_;
  std::vector<double> members_;
  size_t features_ = 0;
  size_t targets_ = 1;
  TreeAggregate aggregate_ = TreeAggregate::sum;
  std::vector<double> base_;
  TreeMode only_mode_ = TreeMode::leaf;
  KeyedTrees keyed_;
};

}  // namespace assay

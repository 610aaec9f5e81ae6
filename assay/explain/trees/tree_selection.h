// What walks of trees share: the trees of an ensemble that one of them serves, found by the target that they have
// weights for, and a number for each of their nodes under which the walk keeps what it knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/model/trees/ensemble.h"

namespace assay {

struct SelectedTree {
  uint32_t root = 0;  // its nodes are root .. end - 1: an ensemble keeps those of a tree together
  uint32_t end = 0;
  size_t first = 0;  // node i is number first + i - root in the selection
};

class TreeSelection {
 public:
  // roots: positions in trees.roots(), each at most once.
  TreeSelection(const TreeEnsemble& trees, std::span<const uint32_t> roots);

  std::span<const SelectedTree> trees() const { return trees_; }
  // Nodes of all of them.
  size_t nodes() const { return nodes_; }
  // Positions in trees() of those where some leaf has a weight for the target, ascending.
  std::span<const uint32_t> with_target(size_t target) const {
    return std::span(of_targets_).subspan(starts_[target], starts_[target + 1] - starts_[target]);
  }

 private:
  std::vector<SelectedTree> trees_;
  size_t nodes_ = 0;
  std::vector<size_t> starts_;  // one for each target, and the end
  std::vector<uint32_t> of_targets_;
};

inline double leaf_weight(const TreeEnsemble& trees, const TreeNode& leaf, size_t target) {
  if (target == 0) return leaf.threshold;
  double sum = 0;
  for (const TreeWeight& weight : trees.weights(leaf)) {
    if (weight.target == target) sum += weight.value;
  }
  return sum;
}

// trees.goes_true, with the modes that nearly all branches have decided on the spot.
inline bool goes_true_at(const TreeEnsemble& trees, const TreeNode& node, double x) {
  if (node.mode() == TreeMode::less_equal || node.mode() == TreeMode::less) {
    const bool below = node.mode() == TreeMode::less ? x < node.threshold : x <= node.threshold;
    return below | ((node.missing_goes_true != 0) & (x != x));
  }
  return trees.goes_true(node, x);
}

}  // namespace assay

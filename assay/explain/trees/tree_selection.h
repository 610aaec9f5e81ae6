// What ways through trees share: the trees of an ensemble that one of them serves, found by the target that they have
// weights for, and a number for each of their nodes under which a walk keeps what it knows of it; and the numbers that
// leaves and covers stand for.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// What an infinite leaf gives to players is undefined.
inline double finite_or_nan(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
}

// The share of the rows at a branch that go to this child of it, by covers; half where none were seen.
inline double cover_ratio(const TreeEnsemble& trees, uint32_t branch, uint32_t child) {
  const double all = trees.covers()[branch];
  return all > 0 ? trees.covers()[child] / all : 0.5;
}

}  // namespace assay

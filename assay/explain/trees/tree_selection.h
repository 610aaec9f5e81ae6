// A selection of trees of an ensemble: which of them have weights for a target, and a number for each of their nodes,
// under which a walk through the trees can keep data. And helpers for the numbers at leaves and covers.
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
  uint32_t root = 0;  // its nodes are root .. end - 1 of the ensemble
  uint32_t end = 0;
  size_t first = 0;  // node i is number first + i - root in the selection
};

class TreeSelection {
 public:
  // roots: positions in trees.roots(), each at most once.
  TreeSelection(const TreeEnsemble& trees, std::span<const uint32_t> roots);

  std::span<const SelectedTree> trees() const { return trees_; }
  // How many nodes all of them have.
  size_t nodes() const { return nodes_; }
  // Indices in trees() of the trees in which a leaf has a weight for this target, ascending.
  std::span<const uint32_t> with_target(size_t target) const {
    return std::span(of_targets_).subspan(starts_[target], starts_[target + 1] - starts_[target]);
  }

 private:
  std::vector<SelectedTree> trees_;
  size_t nodes_ = 0;
  std::vector<size_t> starts_;  // by target: where its trees begin in of_targets_; then the end
  std::vector<uint32_t> of_targets_;
};

// NaN for an infinite value: how players share an infinite leaf is undefined.
inline double finite_or_nan(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
}

// The share of training rows at a branch that go to this child, by covers; half if the branch saw none.
inline double cover_ratio(const TreeEnsemble& trees, uint32_t branch, uint32_t child) {
  const double all = trees.covers()[branch];
  return all > 0 ? trees.covers()[child] / all : 0.5;
}

}  // namespace assay

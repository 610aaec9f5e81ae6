#include "assay/explain/trees/tree_selection.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay {

TreeSelection::TreeSelection(const TreeEnsemble& trees, std::span<const uint32_t> roots)
    : starts_(trees.targets() + 1) {
  // Pairs of target and tree: few, though an ensemble may have many targets and many trees.
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<uint32_t> last_tree(trees.targets(), std::numeric_limits<uint32_t>::max());
  for (const uint32_t position : roots) {
    SelectedTree tree;
    tree.root = trees.roots()[position];
    const bool is_last = size_t{position} + 1 == trees.roots().size();
    tree.end = is_last ? static_cast<uint32_t>(trees.nodes().size()) : trees.roots()[position + 1];
    tree.first = nodes_;
    nodes_ += tree.end - tree.root;
    const auto number = static_cast<uint32_t>(trees_.size());
    trees_.push_back(tree);
    for (uint32_t i = tree.root; i < tree.end; i++) {
      const TreeNode& node = trees.nodes()[i];
      if (!node.is_leaf()) continue;
      for (const TreeWeight& weight : trees.weights(node)) {
        if (std::exchange(last_tree[weight.target], number) != number) pairs.emplace_back(weight.target, number);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  of_targets_.reserve(pairs.size());
  for (const auto& [target, number] : pairs) {
    starts_[target + 1]++;
    of_targets_.push_back(number);
  }
  for (size_t t = 1; t < starts_.size(); t++) starts_[t] += starts_[t - 1];
}

}  // namespace assay

// Small boosters that carry their known answer.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/model/trees/booster.h"
#include "tests/explain/toys.h"

namespace assay::testing {

// Trees of "feature < threshold" splits, missing values to the left, written from the leaves up.
class TreeSketch {
 public:
  size_t leaf(double value, double cover) {
    TreeSource::Node made;
    made.first_weight = source_.weights.size();
    made.weight_count = 1;
    made.cover = cover;
    source_.weights.push_back({0, value});
    return add(made);
  }
  size_t split(int64_t feature, double threshold, size_t left, size_t right) {
    TreeSource::Node made;
    made.mode = TreeMode::less;
    made.feature = feature;
    made.threshold = threshold;
    made.missing_goes_true = true;
    made.true_child = left;
    made.false_child = right;
    made.cover = source_.nodes[left].cover + source_.nodes[right].cover;
    return add(made);
  }
  void tree(size_t root) { source_.roots.push_back(root); }

  std::shared_ptr<const Model> model(const std::string& name, size_t features) const {
    Booster booster;
    booster.features = features;
    booster.source = source_;
    booster.base = {0.5};
    return EngineModel::from_onnx(name, booster_graph(name, booster));
  }

 private:
  size_t add(const TreeSource::Node& node) {
    source_.nodes.push_back(node);
    return source_.nodes.size() - 1;
  }

  TreeSource source_;
};

// One tree for each of two features; the third takes no part. Each gets the difference of its own tree.
inline Toy stumps_toy() {
  TreeSketch trees;
  trees.tree(trees.split(0, 0.5, trees.leaf(1, 30), trees.leaf(3, 10)));
  trees.tree(trees.split(1, 0, trees.leaf(-2, 20), trees.leaf(0.5, 20)));
  return {"stumps", trees.model("stumps", 3), {{1, 1, 9}, {0, -1, 9}}, {0, -1, 0}, {{2, 2.5, 0}, {0, 0, 0}}, {}};
}

// 1 where both features are at least a half: only both together make it.
inline Toy tree_and_toy() {
  TreeSketch trees;
  const size_t inner = trees.split(1, 0.5, trees.leaf(0, 5), trees.leaf(1, 15));
  trees.tree(trees.split(0, 0.5, trees.leaf(0, 20), inner));
  return {"tree and", trees.model("tree and", 3), {{1, 1, 9}, {1, 0, 9}}, {0, 0, 0}, {{0.5, 0.5, 0}, {0, 0, 0}}, {}};
}

// A missing value goes left: it is worth 3 against a reference that goes right.
inline Toy tree_missing_toy() {
  TreeSketch trees;
  trees.tree(trees.split(0, 0.5, trees.leaf(4, 8), trees.leaf(1, 8)));
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  return {"tree missing", trees.model("tree missing", 2), {{kMissing, 1}, {2, kMissing}}, {1, 2}, {{3, 0}, {0, 0}}, {}};
}

inline std::vector<Toy> tree_toys() {
  std::vector<Toy> toys;
  toys.push_back(stumps_toy());
  toys.push_back(tree_and_toy());
  toys.push_back(tree_missing_toy());
  return toys;
}

}  // namespace assay::testing

// Trees in the form of TreeEnsembleRegressor and TreeEnsembleClassifier.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/model/ops/ml_node.h"

namespace assay::testing {

// The attributes of versions 1 and 3, node by node and weight by weight.
struct Trees {
  std::vector<int64_t> trees, ids, features, true_ids, false_ids, missing;
  std::vector<std::string> modes;
  std::vector<float> values;
  std::vector<int64_t> weight_trees, weight_nodes, weight_targets;
  std::vector<float> weights;

  void branch(int64_t tree, int64_t id, std::string mode, int64_t feature, float value, int64_t true_id,
              int64_t false_id, bool missing_true = false) {
    trees.push_back(tree);
    ids.push_back(id);
    modes.push_back(std::move(mode));
    features.push_back(feature);
    values.push_back(value);
    true_ids.push_back(true_id);
    false_ids.push_back(false_id);
    missing.push_back(missing_true ? 1 : 0);
  }
  void leaf(int64_t tree, int64_t id) { branch(tree, id, "LEAF", 0, 0, 0, 0); }
  void weight(int64_t tree, int64_t id, int64_t target, float value) {
    weight_trees.push_back(tree);
    weight_nodes.push_back(id);
    weight_targets.push_back(target);
    weights.push_back(value);
  }

  std::vector<OnnxAttribute> attributes(const std::string& prefix) const {
    return {ints_attribute("nodes_treeids", trees),
            ints_attribute("nodes_nodeids", ids),
            ints_attribute("nodes_featureids", features),
            ints_attribute("nodes_truenodeids", true_ids),
            ints_attribute("nodes_falsenodeids", false_ids),
            ints_attribute("nodes_missing_value_tracks_true", missing),
            texts_attribute("nodes_modes", modes),
            floats_attribute("nodes_values", values),
            ints_attribute(prefix + "_treeids", weight_trees),
            ints_attribute(prefix + "_nodeids", weight_nodes),
            ints_attribute(prefix + "_ids", weight_targets),
            floats_attribute(prefix + "_weights", weights)};
  }
  std::vector<OnnxAttribute> regressor(std::vector<OnnxAttribute> more = {}) const {
    for (const OnnxAttribute& each : attributes("target")) more.push_back(each);
    return more;
  }
  std::vector<OnnxAttribute> classifier(std::vector<OnnxAttribute> more) const {
    for (const OnnxAttribute& each : attributes("class")) more.push_back(each);
    return more;
  }
};

// x <= 0.5 ? leaf 1 : leaf 2
inline Trees stump() {
  Trees trees;
  trees.branch(0, 0, "BRANCH_LEQ", 0, 0.5F, 1, 2);
  trees.leaf(0, 1);
  trees.leaf(0, 2);
  return trees;
}

}  // namespace assay::testing

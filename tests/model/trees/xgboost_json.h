// A small model of XGBoost by hand, for tests that change it and write it in both formats; and the scores of what is
// read.
#pragma once

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/trees/xgboost.h"

namespace assay::testing::xgboost {

// Features a, b (categories by their codes) and c.
//
//   tree 0:  a < 0.5 (missing: yes)          tree 1:  c < -2 (missing: no)
//            yes -1.5                                 yes 10
//            no  b in {1, 3} (missing: in)            no  20
//                not in 0.25
//                in     4
inline nlohmann::json xgboost_json() {
  return nlohmann::json::parse(R"({
    "learner": {
      "attributes": {},
      "feature_names": ["a", "b", "c"],
      "feature_types": ["float", "c", "int"],
      "gradient_booster": {
        "model": {
          "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2"},
          "iteration_indptr": [0, 1, 2],
          "tree_info": [0, 0],
          "trees": [{
            "base_weights": [0.0, -15.0, 0.0, 2.5, 40.0],
            "categories": [1, 3],
            "categories_nodes": [2],
            "categories_segments": [0],
            "categories_sizes": [2],
            "default_left": [1, 0, 0, 0, 0],
            "id": 0,
            "left_children": [1, -1, 3, -1, -1],
            "loss_changes": [1.5, 0.0, 0.5, 0.0, 0.0],
            "parents": [2147483647, 0, 0, 2, 2],
            "right_children": [2, -1, 4, -1, -1],
            "split_conditions": [0.5, -1.5, 1e-45, 0.25, 4.0],
            "split_indices": [0, 0, 1, 0, 0],
            "split_type": [0, 0, 1, 0, 0],
            "sum_hessian": [100.0, 40.0, 60.0, 50.0, 10.0],
            "tree_param": {"num_deleted": "0", "num_feature": "3", "num_nodes": "5", "size_leaf_vector": "1"}
          }, {
            "base_weights": [0.0, 100.0, 200.0],
            "categories": [],
            "categories_nodes": [],
            "categories_segments": [],
            "categories_sizes": [],
            "default_left": [0, 0, 0],
            "id": 1,
            "left_children": [1, -1, -1],
            "loss_changes": [1.0, 0.0, 0.0],
            "parents": [2147483647, 0, 0],
            "right_children": [2, -1, -1],
            "split_conditions": [-2.0, 10.0, 20.0],
            "split_indices": [2, 0, 0],
            "split_type": [0, 0, 0],
            "sum_hessian": [100.0, 30.0, 70.0],
            "tree_param": {"num_deleted": "0", "num_feature": "3", "num_nodes": "3", "size_leaf_vector": "1"}
          }]
        },
        "name": "gbtree"
      },
      "learner_model_param": {
        "base_score": "[5E-1]", "boost_from_average": "1", "num_class": "0", "num_feature": "3", "num_target": "1"
      },
      "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}
    },
    "version": [3, 2, 0]
  })");
}

inline nlohmann::json& learner_of(nlohmann::json& model) { return model["learner"]; }
inline nlohmann::json& trees_of(nlohmann::json& model) {
  return model["learner"]["gradient_booster"]["model"]["trees"];
}
inline nlohmann::json& parameter_of(nlohmann::json& model, const char* key) {
  return model["learner"]["learner_model_param"][key];
}

// As XGBoost writes it: lengths of 8 bytes, arrays of numbers of one type.
inline void append_ubjson(const nlohmann::json& value, std::string& out) {
  const auto number = [&](auto bits) {
    for (size_t i = sizeof bits; i-- > 0;) out += static_cast<char>(bits >> (8 * i) & 0xFF);
  };
  const auto length = [&](size_t size) {
    out += 'L';
    number(uint64_t{size});
  };
  const auto single = [&](const nlohmann::json& from) {
    const auto as_float = static_cast<float>(from.get<double>());
    uint32_t bits = 0;
    std::memcpy(&bits, &as_float, sizeof bits);
    number(bits);
  };
  if (value.is_object()) {
    out += '{';
    for (const auto& [key, item] : value.items()) {
      length(key.size());
      out += key;
      append_ubjson(item, out);
    }
    out += '}';
  } else if (value.is_array() && !value.empty() && value[0].is_number()) {
    out += value[0].is_number_float() ? "[$d#" : "[$l#";
    length(value.size());
    for (const nlohmann::json& item : value) {
      if (value[0].is_number_float()) {
        single(item);
      } else {
        number(static_cast<uint32_t>(item.get<int32_t>()));
      }
    }
  } else if (value.is_array()) {
    out += "[#";
    length(value.size());
    for (const nlohmann::json& item : value) append_ubjson(item, out);
  } else if (value.is_string()) {
    out += 'S';
    length(value.get<std::string>().size());
    out += value.get<std::string>();
  } else if (value.is_number_float()) {
    out += 'd';
    single(value);
  } else {
    out += 'i';
    number(static_cast<uint8_t>(value.get<int8_t>()));
  }
}

inline std::string ubjson_of(const nlohmann::json& model) {
  std::string out;
  append_ubjson(model, out);
  return out;
}

inline std::vector<double> booster_scores(const Booster& booster, const std::vector<float>& row) {
  const TreeEnsemble trees("m.json", booster.source, booster.features, booster.targets, booster.aggregate,
                           booster.base);
  std::vector<std::byte> scratch(trees.scratch_count() * TreeEnsemble::kScratchSize);
  std::vector<double> result;
  trees.for_rows(row.data(), 1, row.size(), scratch.data(), [&](size_t, std::span<double> scores, const uint8_t*) {
    result.assign(scores.begin(), scores.end());
  });
  return result;
}

inline Booster booster_of(const nlohmann::json& model) { return read_xgboost("m.json", model.dump()); }

inline std::vector<double> scores_of(const nlohmann::json& model, const std::vector<float>& row) {
  return booster_scores(booster_of(model), row);
}

}  // namespace assay::testing::xgboost

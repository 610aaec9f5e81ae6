// The attributes of TreeEnsembleRegressor and TreeEnsembleClassifier, versions 1 and 3, which differ in names alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/model/ops/node_setup.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

struct EnsembleAttributes {
  TreeSource source;
  std::vector<double> base;  // base_values
  bool all_positive = true;  // no weight is negative, those of branches included
  bool one_target = false;   // there are weights, and all are for the same target
};

// prefix: "target" or "class", which the names of the attributes with weights begin with. The root of a tree is its
// first node in the list. Weights of branches have no effect, as in onnxruntime. Refuses targets beyond `targets`.
EnsembleAttributes ensemble_attributes(const NodeSetup& setup, const std::string& prefix, size_t targets);

// The floats of an attribute; from version 3 on also float64 numbers under its name with "_as_tensor".
std::vector<double> reals_or_tensor(const NodeSetup& setup, const std::string& name);

// The numbers of an attribute that is a tensor; none when it is absent.
std::vector<double> tensor_reals(const NodeSetup& setup, std::string_view name);
std::vector<int64_t> tensor_wholes(const NodeSetup& setup, std::string_view name);

// Refuses an attribute of another length than its siblings.
void expect_length(const NodeSetup& setup, std::string_view name, size_t found, size_t expected);

}  // namespace assay

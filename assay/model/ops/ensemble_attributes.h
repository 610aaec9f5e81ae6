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
  bool one_target = false;   // all weights, of which there are some, are for the same target
};

// prefix: "target" or "class", as the names of the attributes with weights begin. The root of a tree is the node of it
// that is listed first; weights of branches have no effect, as in onnxruntime. Refuses targets beyond `targets`.
EnsembleAttributes ensemble_attributes(const NodeSetup& setup, const std::string& prefix, size_t targets);

// Floats, or float64 from version 3 on under the name with "_as_tensor".
std::vector<double> reals_or_tensor(const NodeSetup& setup, const std::string& name);

// The numbers of an attribute that is a tensor; none when it is absent.
std::vector<double> tensor_reals(const NodeSetup& setup, std::string_view name);
std::vector<int64_t> tensor_wholes(const NodeSetup& setup, std::string_view name);

// Refuses an attribute of another length than its siblings.
void expect_length(const NodeSetup& setup, std::string_view name, size_t found, size_t expected);

}  // namespace assay

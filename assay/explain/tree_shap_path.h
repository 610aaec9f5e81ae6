// Exact Shapley values of ensembles of trees, path-dependent form (Lundberg et al. 2020): what XGBoost and LightGBM
// call contributions.
//
//   v(S) = the raw score of the row where a branch of a player outside S averages its children, by the numbers of
//          training rows that went there (covers)
//
// There is no reference: the trees themselves tell what is usual, and the base value is v of nobody, the mean score by
// covers. A path that the row's present players rule out is never taken, but absent players follow the training rows
// only within a path: unlike with a background, a feature that no branch tests may not get a value, and two features
// that go together share it by the order in which the trees happen to ask for them.
//
// A node that no training row came to sends half to each child. Cost and rounding as tree_shap, without reference rows.
#pragma once

#include <optional>
#include <string>

#include "assay/explain/explainer.h"

namespace assay {

class TreeShapPath final : public Explainer {
 public:
  struct Options {
    void describe(OptionVisitor&) {}
  };
  explicit TreeShapPath(const Options&) {}

  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;
};

MethodInfo tree_shap_path_method();

}  // namespace assay

// Exact Shapley values of ensembles of trees, interventional form (Lundberg et al. 2020): the values of the same game
// that exact_shapley plays, from the trees themselves instead of 2^d coalitions.
//
//   v(S) = mean over the reference rows of the raw score of the row whose players outside S are the reference row's
//
// The game of an ensemble is the sum of its leaves' games, and that of a leaf has few players: those on its path.
// Groups of columns are players like others; a missing value (NaN) goes where the trees send it, in rows and in
// references. Explains raw scores (margins, or the value of a regression), in which trees add up.
//
// Cost: no model evaluations. Narrow trees are turned into tables once, which takes time in proportion to leaves times
// 2^k for k distinct players on a path, and hardly depends on the reference rows; then a row takes a few look-ups for
// each tree. Wide trees are walked, in time that grows with the reference rows. No sampling error: right to the
// rounding of float32.
#pragma once

#include <optional>
#include <string>

#include "assay/explain/explainer.h"

namespace assay {

class TreeShap final : public Explainer {
 public:
  struct Options {
    bool background_error = false;
    void describe(OptionVisitor& visit) {
      visit.flag("background_error", background_error,
                 "also the standard error over background rows, which takes far longer than the values");
    }
  };
  explicit TreeShap(const Options& options) : options_(options) {}

  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;

 private:
  Options options_;
};

MethodInfo tree_shap_method();

}  // namespace assay

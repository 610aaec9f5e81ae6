// Exact Shapley values of ensembles of trees, path-dependent form (Lundberg et al. 2020): what XGBoost and LightGBM
// call contributions.
//
//   v(S) = the raw score of the row where a branch of a player outside S averages its children, by the numbers of
//          training rows that went there (covers)
//
// There is no reference: covers stand for typical rows, and the base value is v of the empty coalition, the mean score
// by covers. Absent players follow the training rows only along each path. So two features that go together share their
// value by the order in which the trees happen to test them.
//
// A node that no training row came to sends half to each child. Cost and rounding as tree_shap, without reference rows.
#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "assay/explain/explainer.h"
#include "assay/explain/trees/path_walk.h"
#include "assay/explain/trees/tree_values.h"

namespace assay {
namespace {

std::optional<Refusal> refuses_without_covers(const ExplainTask& task) {
  if (auto reason = refuses_trees(task)) return reason;
  if (!task.model.tree_scores()->trees().covers().empty()) return {};
  return fmt::format(
      "needs the number of training rows at each node (covers), which {} does not have: use tree_shap with a "
      "background",
      task.model.info().name);
}

TreeGameView path_game(const ExplainTask& task) { return {task.model.tree_scores()->trees(), task.players, nullptr}; }

// The mean score by covers, for each target of the trees.
std::shared_ptr<const std::vector<double>> mean_scores(const ExplainTask& task) {
  return kept_or_made<std::vector<double>>(task.kept, "tree_shap_path: mean scores", [&] {
    const TreeEnsemble& trees = task.model.tree_scores()->trees();
    std::vector<uint32_t> roots(trees.roots().size());
    std::iota(roots.begin(), roots.end(), 0U);
    const PathWalk walk(trees, roots, task.players);
    std::vector<double> made(trees.targets());
    for (size_t target = 0; target < made.size(); target++) {
      made[target] = walk.base(target) + (trees.base().empty() ? 0 : trees.base()[target]);
    }
    return std::make_shared<std::vector<double>>(std::move(made));
  });
}

void prepare_covers(const ExplainTask& task, const NoOptions& /*options*/, const Context& context) {
  prepare_tree_values(path_game(task), task, TreeTableLimits{}, context, "tree_shap_path");
  mean_scores(task);
}

void attribute_by_covers(const ExplainTask& task, const NoOptions& /*options*/, Attributions& out,
                         const Context& context) {
  tree_values(path_game(task), task, TreeTableLimits{}, out.values, context, "tree_shap_path");
  const auto scores = mean_scores(task);
  out.base.resize(task.rows.rows());
  for (size_t r = 0; r < out.base.size(); r++) {
    const OutputTerm& term = task.targets.term(r);
    out.base[r] = static_cast<double>(term.offset) + static_cast<double>(term.scale) * (*scores)[term.output];
  }
}

}  // namespace

MethodInfo tree_shap_path_method() {
  return with_options<AttributedBy<attribute_by_covers, refuses_without_covers, nullptr, prepare_covers>>(
      {.name = "tree_shap_path",
       .title = "Shapley values of trees by the training rows at their nodes",
       .citation = "Lundberg et al. (2020)",
       .cost = "no model evaluations: a few look-ups for each tree",
       .complete = true,
       .uses_reference = false,
       .sampled = false,
       .for_trees = true});
}

}  // namespace assay

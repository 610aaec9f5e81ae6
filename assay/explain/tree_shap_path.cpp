#include "assay/explain/tree_shap_path.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <vector>

#include "assay/explain/trees/path_walk.h"
#include "assay/explain/trees/tree_values.h"

namespace assay {

std::optional<std::string> TreeShapPath::refuses(const ExplainTask& task) const {
  if (auto reason = refuses_trees(task)) return reason;
  if (!task.model.tree_scores()->trees().covers().empty()) return {};
  return fmt::format(
      "needs the number of training rows at each node (covers), which {} does not have: use tree_shap with a "
      "background",
      task.model.info().name);
}

void TreeShapPath::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  const TreeEnsemble& trees = task.model.tree_scores()->trees();
  const TreeGameView game{trees, task.players, nullptr};
  tree_values(game, task, TreeTableLimits{}, out.values, context, "tree_shap_path");
  std::vector<uint32_t> roots(trees.roots().size());
  std::iota(roots.begin(), roots.end(), 0U);
  const PathWalk walk(trees, roots, task.players);
  std::vector<std::optional<double>> scores(trees.targets());
  out.base.resize(task.rows.rows());
  for (size_t r = 0; r < out.base.size(); r++) {
    const OutputTerm& term = task.targets.term(r);
    std::optional<double>& score = scores[term.output];
    if (!score) score = walk.base(term.output) + (trees.base().empty() ? 0 : trees.base()[term.output]);
    out.base[r] = static_cast<double>(term.offset) + static_cast<double>(term.scale) * *score;
  }
}

MethodInfo tree_shap_path_method() {
  return with_options<TreeShapPath>({.name = "tree_shap_path",
                                     .title = "Shapley values of trees by the training rows at their nodes",
                                     .citation = "Lundberg et al. (2020)",
                                     .cost = "no model evaluations: a few look-ups for each tree",
                                     .complete = true,
                                     .uses_reference = false,
                                     .sampled = false});
}

}  // namespace assay

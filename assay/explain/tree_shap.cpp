// Exact Shapley values of ensembles of trees, interventional form (Lundberg et al. 2020): the values of the same game
// that exact_shapley plays, from the trees themselves instead of 2^d coalitions.
//
//   v(S) = mean over the reference rows of the raw score of the row whose players outside S are the reference row's
//
// The game of an ensemble is the sum of its leaves' games, and a leaf's game has few players: those on its path. Groups
// of columns can be players. A missing value (NaN) goes where the trees send it, in rows and in references. It explains
// raw scores (margins, or the value of a regression), because trees add up in these.
//
// Cost: no model evaluations. Narrow trees are turned into tables once, which takes time in proportion to leaves times
// 2^k for k distinct players on a path, and hardly depends on the reference rows; then a row takes a few look-ups for
// each tree. Wide trees are walked, in time that grows with the reference rows. There is no sampling error, only
// float32 rounding.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/explain/common.h"
#include "assay/explain/explainer.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/trees/interventional_walk.h"
#include "assay/explain/trees/tree_values.h"

namespace assay {
namespace {

// Of the moments of rows that are in work.
constexpr size_t kMomentBytesInWork = size_t{64} << 20;
constexpr size_t kMomentRowsPerBlock = 16;

// The standard error of each mean over the reference rows, from the values against each of them alone.
Matrix background_errors(const TreeEnsemble& trees, const ExplainTask& task, const Context& context) {
  const size_t players = task.players.size();
  const size_t rows = task.rows.rows();
  const size_t references = task.reference.rows.rows();
  Matrix errors(rows, players);
  std::vector<uint32_t> roots(trees.roots().size());
  std::iota(roots.begin(), roots.end(), 0U);
  struct Scratch {
    InterventionalWalk::Scratch walk;
    std::vector<double> phi;
  };
  ScratchPool<Scratch> pool;
  const size_t span = std::max<size_t>(kMomentBytesInWork / (3 * players * sizeof(double)), 1);
  for (size_t first = 0; first < rows; first += span) {
    const size_t count = std::min(span, rows - first);
    std::vector<VectorMoments> moments(count, VectorMoments(players, task.reference.strata));
    for (size_t b = 0; b < references; b++) {
      const InterventionalWalk walk(trees, roots, task.players, task.reference.rows.view().rows_between(b, b + 1));
      parallel_blocks(context, count, kMomentRowsPerBlock, [&](const Block& block) {
        const ScratchPool<Scratch>::Lease scratch(pool);
        for (size_t i = block.begin; i < block.end; i++) {
          const OutputTerm& term = task.targets.term(first + i);
          scratch->phi.assign(players, 0.0);
          walk.add(task.rows.row(first + i), term.output, scratch->phi, scratch->walk);
          for (double& value : scratch->phi) value *= static_cast<double>(term.scale);
          moments[i].add(scratch->phi);
        }
      });
    }
    for (size_t i = 0; i < count; i++) {
      const auto to = errors.row(first + i);
      for (size_t p = 0; p < players; p++) to[p] = static_cast<float>(moments[i].standard_error(p));
    }
  }
  return errors;
}

struct TreeShapOptions {
  bool background_error = false;
  void describe(OptionVisitor& visit) {
    visit.flag("background_error", background_error,
               "also the standard error over background rows, which takes far longer than the values");
  }
};

TreeGameView interventional_game(const ExplainTask& task) {
  return {task.model.tree_scores()->trees(), task.players, &task.reference.rows};
}

void prepare_trees(const ExplainTask& task, const TreeShapOptions& /*options*/, const Context& context) {
  prepare_tree_values(interventional_game(task), task, TreeTableLimits{}, context, "tree_shap");
}

void attribute_by_trees(const ExplainTask& task, const TreeShapOptions& options, Attributions& out,
                        const Context& context) {
  const TreeGameView game = interventional_game(task);
  tree_values(game, task, TreeTableLimits{}, out.values, context, "tree_shap");
  if (!options.background_error || !task.reference.is_background()) return;
  const Context quiet = context.quiet();
  out.background_error = background_errors(game.trees, task, quiet);
}

}  // namespace

MethodInfo tree_shap_method() {
  return with_options<AttributedBy<attribute_by_trees, refuses_trees, nullptr, prepare_trees>>(
      {.name = "tree_shap",
       .title = "Shapley values of trees against a reference, exact for any number of players",
       .citation = "Lundberg et al. (2020)",
       .cost = "no model evaluations: a few look-ups for each tree",
       .complete = true,
       .uses_reference = true,
       .sampled = false,
       .for_trees = true,
       .shapley = true});
}

}  // namespace assay

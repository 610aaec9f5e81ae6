// Faithfulness estimate: whether players of higher attribution cost the model more when they alone are removed
// (Alvarez-Melis, Jaakkola 2018): Pearson's correlation, over players i, of
//   phi_i   with   f(x) - f(x with i at the reference).
//
// It is faithfulness at subsets of one player, without sampling. f is the explained value; with a background the mean
// over its rows. Undefined where either side does not vary (see subsets/subset_correlation.h).
// Deviation from the paper: it takes the drop of the class's probability. Here f may be a margin, which does not
// flatten out where the model is sure.
// Cost: a game value for each player and reference row.

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/subsets/subset_correlation.h"
#include "assay/evaluate/subsets/subset_design.h"

namespace assay {
namespace {

void score_estimate(const EvaluateTask& task, const NoOptions& /*options*/, Scores& scores, const Context& context) {
  const size_t players = task.explanations.players();
  const SubsetDesign design = make_subsets(players, 1, players, players, "faithfulness_estimate", context);
  const ExplainTask explained = explain_task_of(task.subject);
  const std::unique_ptr<Game> game = make_game(explained, context);
  score_by_subsets(*game, task.explanations.values.view(), design, scores, context, "faithfulness_estimate",
                   task.subset_values);
}

}  // namespace

CriterionInfo faithfulness_estimate_criterion() {
  return with_criterion_options<ScoredBy<score_estimate, refuses_one_player>>(
      {.name = "faithfulness_estimate",
       .title = "Whether players of higher attribution cost the model more when they alone are removed",
       .family = "faithfulness",
       .citation = "Alvarez-Melis, Jaakkola (2018)",
       .cost = "a coalition for each player and reference row",
       .direction = Direction::higher,
       .range = "-1 to 1",
       .needs = {.model = true, .reference = true},
       .reads_signs = true,
       .shares_values = true});
}

}  // namespace assay

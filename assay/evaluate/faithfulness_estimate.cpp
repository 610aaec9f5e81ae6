#include "assay/evaluate/faithfulness_estimate.h"

#include <fmt/format.h>

#include "assay/evaluate/subsets/subset_correlation.h"
#include "assay/evaluate/subsets/subset_design.h"

namespace assay {

std::optional<std::string> FaithfulnessEstimate::refuses(const EvaluateTask& task) const {
  const size_t players = task.explanations.players();
  if (players < 2) return fmt::format("needs two players or more, and there is {}", players);
  return {};
}

void FaithfulnessEstimate::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const size_t players = task.explanations.players();
  const SubsetDesign design = make_subsets(players, 1, players, players, "faithfulness_estimate", context);
  const ExplainTask explained = task.explain_task();
  const std::unique_ptr<Game> game = make_game(explained, context);
  score_by_subsets(*game, task.explanations.values.view(), design, scores, context, "faithfulness_estimate");
}

CriterionInfo faithfulness_estimate_criterion() {
  return with_criterion_options<FaithfulnessEstimate>(
      {.name = "faithfulness_estimate",
       .title = "Whether players of higher attribution cost the model more when they alone are removed",
       .family = "faithfulness",
       .citation = "Alvarez-Melis, Jaakkola (2018)",
       .cost = "a coalition for each player and reference row",
       .direction = Direction::higher,
       .range = "-1 to 1",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

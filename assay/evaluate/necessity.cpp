#include "assay/evaluate/necessity.h"

namespace assay {

void Necessity::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_proportion(task, {.name = "necessity", .add = false}, options_, scores, context);
}

CriterionInfo necessity_criterion() {
  return with_criterion_options<Necessity>(
      {.name = "necessity",
       .title = "What is left of the class's score as the players that speak for it are removed",
       .family = "importance",
       .citation = "Wang, Mardziel, Datta, Fredrikson (2020)",
       .cost = "players + 1 evaluations for each reference row",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

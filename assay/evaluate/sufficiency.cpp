#include "assay/evaluate/sufficiency.h"

namespace assay {

void Sufficiency::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  if (options_.form == "proportionality") scores.direction = Direction::lower;
  score_proportion(task, {.name = "sufficiency", .add = true}, options_, scores, context);
}

CriterionInfo sufficiency_criterion() {
  return with_criterion_options<Sufficiency>(
      {.name = "sufficiency",
       .title = "What the class's score becomes as the players that speak for it join the reference",
       .family = "importance",
       .citation = "Wang, Mardziel, Datta, Fredrikson (2020)",
       .cost = "players + 1 evaluations for each reference row",
       .direction = Direction::higher,
       .range = "0 to 1; of log-odds and regressions, any number",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

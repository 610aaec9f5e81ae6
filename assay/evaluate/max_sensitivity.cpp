#include "assay/evaluate/max_sensitivity.h"

#include "assay/evaluate/neighbourhoods/sensitivity.h"

namespace assay {

void MaxSensitivity::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_sensitivity(task, options_, Fold::max, scores, context);
}

CriterionInfo max_sensitivity_criterion() {
  return with_criterion_options<MaxSensitivity>(
      {.name = "max_sensitivity",
       .title = "Largest change of the explanation among neighbours of the row's class",
       .family = "sensitivity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "one, and one for each row of the pool; explanations of neighbours",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .pool = true, .pool_explanations = true}});
}

}  // namespace assay

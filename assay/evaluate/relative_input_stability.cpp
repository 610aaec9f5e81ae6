#include "assay/evaluate/relative_input_stability.h"

namespace assay {

std::optional<std::string> RelativeInputStability::refuses(const EvaluateTask& task) const {
  return refuses_relative(task, options_);
}

void RelativeInputStability::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_relative(task, options_, RelativeTo::input, "relative_input_stability", scores, context);
}

CriterionInfo relative_input_stability_criterion() {
  return with_criterion_options<RelativeInputStability>(
      {.name = "relative_input_stability",
       .title = "Relative change of the explanation over the relative change of the row",
       .family = "stability",
       .citation = "Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju (2022)",
       .cost = "`samples` explanations and predictions (default 20)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

#include "assay/evaluate/relative_output_stability.h"

namespace assay {

std::optional<std::string> RelativeOutputStability::refuses(const EvaluateTask& task) const {
  return refuses_relative(task, options_);
}

void RelativeOutputStability::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_relative(task, options_, RelativeTo::output, "relative_output_stability", scores, context);
}

CriterionInfo relative_output_stability_criterion() {
  return with_criterion_options<RelativeOutputStability>(
      {.name = "relative_output_stability",
       .title = "Relative change of the explanation over the change of the model's outputs",
       .family = "stability",
       .citation = "Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju (2022)",
       .cost = "`samples` explanations and predictions (default 20)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

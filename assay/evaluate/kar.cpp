#include "assay/evaluate/kar.h"

namespace assay {

std::optional<std::string> Kar::refuses(const EvaluateTask& task) const { return retraining_refusal(task); }

void Kar::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_by_retraining("kar", Replaced::all_but_first, options_, task.trainer_concurrent, task, scores, context);
}

CriterionInfo kar_criterion() {
  return with_criterion_options<Kar>(
      {.name = "kar",
       .title = "Accuracy lost when only the strongest players are kept and the model is retrained",
       .family = "importance",
       .citation = "Hooker, Erhan, Kindermans, Kim (2019)",
       .cost = "seeds * k trainings in all; with controls seeds * (2 k + 1)",
       .direction = Direction::lower,
       .range = "-1 to 1; R^2 has no bounds",
       .needs = retraining_needs()});
}

}  // namespace assay

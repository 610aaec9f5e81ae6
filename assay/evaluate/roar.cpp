#include "assay/evaluate/roar.h"

namespace assay {

std::optional<std::string> Roar::refuses(const EvaluateTask& task) const { return retraining_refusal(task); }

void Roar::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_by_retraining("roar", Replaced::first, options_, task.trainer_concurrent, task, scores, context);
}

CriterionInfo roar_criterion() {
  return with_criterion_options<Roar>(
      {.name = "roar",
       .title = "Accuracy lost when the strongest players are removed and the model is retrained",
       .family = "importance",
       .citation = "Hooker, Erhan, Kindermans, Kim (2019)",
       .cost = "seeds * k trainings in all; with controls seeds * (2 k + 1)",
       .direction = Direction::higher,
       .range = "-1 to 1; R^2 has no bounds",
       .needs = retraining_needs()});
}

}  // namespace assay

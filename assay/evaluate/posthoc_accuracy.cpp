#include "assay/evaluate/posthoc_accuracy.h"

#include <cmath>

#include "assay/evaluate/common.h"
#include "assay/explain/target.h"

namespace assay {

std::optional<std::string> PosthocAccuracy::refuses(const EvaluateTask& task) const {
  if (task.model->info().class_names.empty()) return "needs classes, and the model gives values of a regression";
  return refuses_k(options_.k, task.explanations.players());
}

void PosthocAccuracy::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const TopKQuestion question{
      .name = "posthoc_accuracy",
      .kept = true,
      .unit = ScoreUnit::probability,
      .made =
          [](const Removal& removal, size_t row, std::span<const float> outputs) {
            if (!all_finite(outputs)) return static_cast<double>(NAN);
            return predicted_class(removal.model().info(), outputs) == removal.scored_class_of(row) ? 1.0 : 0.0;
          },
      .value = [](const Removal& /*removal*/, size_t /*row*/, size_t /*reference*/, double made) { return made; }};
  score_top_k(task, question, options_.k, scores, context);
}

CriterionInfo posthoc_accuracy_criterion() {
  return with_criterion_options<PosthocAccuracy>(
      {.name = "posthoc_accuracy",
       .title = "Whether the strongest players alone keep the predicted class",
       .family = "importance",
       .citation = "Chen, Song, Wainwright, Jordan (2018)",
       .cost = "1 evaluation for each reference row, and 1",
       .direction = Direction::higher,
       .range = "0 to 1",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

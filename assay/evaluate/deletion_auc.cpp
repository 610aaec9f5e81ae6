#include "assay/evaluate/deletion_auc.h"

namespace assay {

void DeletionAuc::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const bool classes = !task.model->info().class_names.empty();
  const CurveQuestion question{
      .name = "deletion_auc", .add = false, .columns = classes ? "probability" : "value", .value = [](double area) {
        return area;
      }};
  score_curves(task, question, options_, scores, context);
}

CriterionInfo deletion_auc_criterion() {
  return with_criterion_options<DeletionAuc>(
      {.name = "deletion_auc",
       .title = "Area under the class's probability as players are removed, the largest first",
       .family = "importance",
       .citation = "Petsiuk, Das, Saenko (2018)",
       .cost = "steps evaluations for each reference row",
       .direction = Direction::lower,
       .range = "0 to 1; of a regression, any number",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

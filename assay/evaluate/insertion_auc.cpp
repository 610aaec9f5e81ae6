#include "assay/evaluate/insertion_auc.h"

namespace assay {

void InsertionAuc::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const bool classes = !task.model->info().class_names.empty();
  const CurveQuestion question{
      .name = "insertion_auc", .add = true, .columns = classes ? "probability" : "value", .value = [](double area) {
        return area;
      }};
  score_curves(task, question, options_, scores, context);
}

CriterionInfo insertion_auc_criterion() {
  return with_criterion_options<InsertionAuc>(
      {.name = "insertion_auc",
       .title = "Area under the class's probability as players join the reference, the largest first",
       .family = "importance",
       .citation = "Petsiuk, Das, Saenko (2018)",
       .cost = "steps evaluations for each reference row",
       .direction = Direction::higher,
       .range = "0 to 1; of a regression, any number",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

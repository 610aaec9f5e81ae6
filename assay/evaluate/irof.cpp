#include "assay/evaluate/irof.h"

namespace assay {

std::optional<std::string> Irof::refuses(const EvaluateTask& task) const {
  if (task.model->info().class_names.empty()) return "needs classes, and the model gives values of a regression";
  return {};
}

void Irof::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const CurveQuestion question{
      .name = "irof",
      .predicted = true,
      .columns = "relative probability",
      .adjust = [](const Removal& removal, size_t row, std::span<double> curve) -> std::string_view {
        const double at_row = removal.at_row(row);
        if (at_row == 0) return "the class has probability 0 at the row";
        for (double& point : curve) point /= at_row;
        return {};
      },
      .value = [](double area) { return 1 - area; }};
  score_curves(task, question, options_, scores, context);
}

CriterionInfo irof_criterion() {
  return with_criterion_options<Irof>(
      {.name = "irof",
       .title = "Area over the class's relative probability as players are removed, the largest first",
       .family = "importance",
       .citation = "Rieger, Hansen (2020)",
       .cost = "steps evaluations for each reference row",
       .direction = Direction::higher,
       .range = "1 or less",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

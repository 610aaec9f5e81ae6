#include "assay/evaluate/prediction_gap_important.h"

namespace assay {

namespace {

constexpr GapQuestion kImportantGap{.name = "prediction_gap_important", .strongest = true};

}  // namespace

std::optional<std::string> PredictionGapImportant::refuses(const EvaluateTask& task) const {
  return refuses_gap(task, kImportantGap, options_);
}

void PredictionGapImportant::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_gap(task, kImportantGap, options_, scores, context);
}

CriterionInfo prediction_gap_important_criterion() {
  return with_criterion_options<PredictionGapImportant>(
      {.name = "prediction_gap_important",
       .title = "How far the prediction moves when the k strongest players are perturbed",
       .family = "importance",
       .citation = "Dai, Upadhyay, Aivodji, Bach, Lakkaraju (2022)",
       .cost = "samples evaluations",
       .direction = Direction::higher,
       .range = "0 to 1; of a regression, 0 or more",
       .needs = {.model = true, .reference = true},
       .sampled = true});
}

}  // namespace assay

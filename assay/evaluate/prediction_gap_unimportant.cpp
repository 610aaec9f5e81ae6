#include "assay/evaluate/prediction_gap_unimportant.h"

namespace assay {

namespace {

constexpr GapQuestion kUnimportantGap{.name = "prediction_gap_unimportant", .strongest = false};

}  // namespace

std::optional<std::string> PredictionGapUnimportant::refuses(const EvaluateTask& task) const {
  return refuses_gap(task, kUnimportantGap, options_);
}

void PredictionGapUnimportant::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  score_gap(task, kUnimportantGap, options_, scores, context);
}

CriterionInfo prediction_gap_unimportant_criterion() {
  return with_criterion_options<PredictionGapUnimportant>(
      {.name = "prediction_gap_unimportant",
       .title = "How far the prediction moves when all but the k strongest players are perturbed",
       .family = "importance",
       .citation = "Dai, Upadhyay, Aivodji, Bach, Lakkaraju (2022)",
       .cost = "samples evaluations",
       .direction = Direction::lower,
       .range = "0 to 1; of a regression, 0 or more",
       .needs = {.model = true, .reference = true},
       .sampled = true});
}

}  // namespace assay

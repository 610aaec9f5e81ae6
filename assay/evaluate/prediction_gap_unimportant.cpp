// Prediction gap on unimportant features (PGU): how far the probability of the explained class moves when all but the k
// strongest players are perturbed (Dai, Upadhyay, Aivodji, Bach, Lakkaraju 2022; OpenXAI, Agarwal et al. 2022),
//   mean over draws of |p(y|x) - p(y|x')|,   x' = x with noise on all but the k strongest players.
// Lower is better: what is called unimportant should not move the prediction. A regression: its value.
//
// The noise of a column is normal, of deviation scale x (its deviation over the pool); the draws are the same for all
// rows, and the error of the mean has a part for them. Categories have no deviation and stay as they are: a row whose
// perturbed players are all categories is undefined, and so is one that float32 is too coarse to move.
// `perturbation=baseline` puts the players at the reference instead, and moves categories too. Undefined where
// attributions are all 0; refused if the k strongest are all players.
// Deviation from OpenXAI: its noise has one deviation for all columns, which suits columns scaled to 0 .. 1, and it
// flips discrete columns; here each column's own deviation is the unit. Its area over all k is left out.
// Cost: samples + 1 evaluations for a row; baseline: reference rows + 1.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/gap.h"

namespace assay {
namespace {

constexpr GapQuestion kUnimportantGap{.name = "prediction_gap_unimportant", .strongest = false};

}  // namespace

CriterionInfo prediction_gap_unimportant_criterion() {
  return with_criterion_options<PredictionGap<kUnimportantGap>>(
      {.name = "prediction_gap_unimportant",
       .title = "How far the prediction moves when all but the k strongest players are perturbed",
       .family = "importance",
       .citation = "Dai, Upadhyay, Aivodji, Bach, Lakkaraju (2022)",
       .cost = "samples evaluations",
       .direction = Direction::lower,
       .range = "0 to 1; of a regression, 0 or more",
       .needs = {.model = true, .reference = true},
       .sampled = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay

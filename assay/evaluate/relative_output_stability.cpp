// Relative output stability (Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju, "Rethinking Stability for
// Attribution-based Explanations", 2022),
//   max over x' of || (e_x - e_x') / e_x ||_2 / max(|| h(x) - h(x') ||_2, epsilon),
// with e the attributions by player and h all outputs of the model in the unit that is explained (margins unless asked
// otherwise). x' = x + normal noise; only draws that keep the predicted class count. x' has the target of x; all rows
// share their draws.
//
// Players whose attribution is exactly 0 are left out of the norm (zeros=leave_out), or their change is relative to
// epsilon, as in Quantus. If the outputs do not move at all, the change is divided by epsilon: the score is large if
// the explanation moves, and 0 if it does not.
// Undefined: no x' keeps the class; all attributions are 0 (leave_out); explanation or outputs that are not all
// numbers. Deviation from the paper: noise is in units of each column's deviation over the pool, and categories stay.
// Cost: `samples` explanations and predictions of each row.
#include "assay/evaluate/again/relative_stability.h"
#include "assay/evaluate/criterion.h"

namespace assay {

CriterionInfo relative_output_stability_criterion() {
  return with_criterion_options<RelativeStability<RelativeTo::output>>(
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

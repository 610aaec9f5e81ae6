// Relative input stability (Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju, "Rethinking Stability for
// Attribution-based Explanations", 2022),
//   max over x' of || (e_x - e_x') / e_x ||_2 / max(|| (x - x') / x ||_2, epsilon),
// with e the attributions by player, x the columns, and ratios element by element. x' = x + normal noise; only draws
// that keep the predicted class count. x' has the target of x; all rows share their draws.
//
// Elements that would be divided by exactly 0 are left out of both norms (zeros=leave_out). With a small epsilon as
// divisor, as in zeros=epsilon and Quantus, a single zero would decide the score. Very small values still weigh
// heavily, by definition.
// Undefined: no x' keeps the class; all attributions are 0, or no column but zeros moves (leave_out); an explanation
// that is not all numbers.
// Deviation from the paper: noise is in units of each column's deviation over the pool, and categories stay.
// Cost: `samples` explanations and, for classes, predictions of each row.
#include "assay/evaluate/again/relative_stability.h"
#include "assay/evaluate/criterion.h"

namespace assay {

CriterionInfo relative_input_stability_criterion() {
  return with_criterion_options<RelativeStability<RelativeTo::input>>(
      {.name = "relative_input_stability",
       .title = "Relative change of the explanation over the relative change of the row",
       .family = "stability",
       .citation = "Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju (2022)",
       .cost = "`samples` explanations and predictions (default 20)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

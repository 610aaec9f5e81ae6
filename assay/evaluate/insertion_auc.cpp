// Insertion AUC: the area under the curve of the explained class's probability as players join the reference, the
// largest attribution first (Petsiuk, Das, Saenko 2018, RISE),
//   integral over q from 0 to 1 of p(y | the reference with the first q d players from x),
// by trapezoids over even steps of the share q. Higher is better: what matters most should bring the class back at
// once. A regression: the area under its value, in its unit.
//
// y is the explained class, because an order by value only makes sense for that. Several reference rows: the mean of
// their curves. Undefined where attributions are all 0. The mean curve over rows is in the scores' table. Published
// numbers are for the predicted class; a note counts rows explained for another.
// Deviation from the paper: it starts from a blurred image; here the reference stands for absent.
// Cost: steps - 1 evaluations for each pair of row and reference row, plus one for each row and for each reference row.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/curves.h"

namespace assay {
namespace {

void score_insertion_auc(const EvaluateTask& task, const CurveOptions& options, Scores& scores,
                         const Context& context) {
  score_curves(task, {.name = "insertion_auc", .add = true}, options, scores, context);
}

}  // namespace

CriterionInfo insertion_auc_criterion() {
  return with_criterion_options<ScoredBy<score_insertion_auc>>(
      {.name = "insertion_auc",
       .title = "Area under the class's probability as players join the reference, the largest first",
       .family = "importance",
       .citation = "Petsiuk, Das, Saenko (2018)",
       .cost = "steps evaluations for each reference row",
       .direction = Direction::higher,
       .range = "0 to 1; of a regression, any number",
       .needs = {.model = true, .reference = true},
       .reads_signs = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay

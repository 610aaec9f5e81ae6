// IROF, iterative removal of features: the area over the curve of the explained class's probability, relative to that
// at the row, as players are removed, the largest attribution first (Rieger, Hansen 2020),
//   1 - integral over q from 0 to 1 of p(y | x with the first q d players at the reference) / p(y|x),
// by trapezoids over even steps of the share q. Higher is better; negative where removal makes the class likelier.
//
// y is the explained class. Rows explained for another class than the predicted one are undefined: a ratio to a
// probability near 0 says nothing, and a few such rows would dominate the mean. Several reference rows: the mean of
// their curves. Undefined too where attributions are all 0 or p(y|x) is 0; refused for a regression. The mean curve
// over rows is in the scores' table.
// Deviation from the paper: its players are the segments of an image, ordered by the mean attribution of their pixels,
// and are replaced by the mean of the data; here they are the players of the explanations (grid groups for squares),
// ordered by their own attribution, and the reference stands for absent. For squares of one size the order is the same.
// Cost: steps - 1 evaluations for each pair of row and reference row, plus one for each row and for each reference row.
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/curves.h"

namespace assay {
namespace {

void score_irof(const EvaluateTask& task, const CurveOptions& options, Scores& scores, const Context& context) {
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
  score_curves(task, question, options, scores, context);
}

}  // namespace

CriterionInfo irof_criterion() {
  return with_criterion_options<ScoredBy<score_irof, refuses_regression>>(
      {.name = "irof",
       .title = "Area over the class's relative probability as players are removed, the largest first",
       .family = "importance",
       .citation = "Rieger, Hansen (2020)",
       .cost = "steps evaluations for each reference row",
       .direction = Direction::higher,
       .range = "1 or less",
       .needs = {.model = true, .reference = true},
       .reads_signs = true});
}

}  // namespace assay

// IROF, iterative removal of features: the area over the curve of the explained class's probability, relative to that
// at the row, as players are removed, the largest attribution first (Rieger, Hansen 2020),
//   1 - integral over q from 0 to 1 of p(y | x with the first q d players at the reference) / p(y|x),
// by trapezoids over even steps of the share q. Higher is better; negative where removal makes the class likelier.
//
// y is the class that was explained, frozen. Rows explained for another class than the predicted one are undefined: a
// ratio to a probability near 0 says nothing, and a few such rows would make up the mean. Several reference rows: the
// mean of their curves. Undefined too where attributions are all 0 or p(y|x) is 0; refused for a regression. The mean
// curve over rows is in the scores' table.
// Deviation from the paper: its players are the segments of an image, ordered by the mean attribution of their pixels,
// and are replaced by the mean of the data; here they are the players of the explanations (grid groups for squares),
// ordered by their own attribution, and the reference stands for absent. For squares of one size the order is the same.
// Cost: steps - 1 evaluations for each row and reference row, and one for each row and each reference row.
#pragma once

#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/curves.h"

namespace assay {

class Irof final : public Criterion {
 public:
  using Options = CurveOptions;

  explicit Irof(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo irof_criterion();

}  // namespace assay

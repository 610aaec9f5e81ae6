// Prediction gap on important features (PGI): how far the probability of the explained class moves when the k strongest
// players are perturbed (Dai, Upadhyay, Aivodji, Bach, Lakkaraju 2022; OpenXAI, Agarwal et al. 2022),
//   mean over draws of |p(y|x) - p(y|x')|,   x' = x with noise on the k strongest players.
// Higher is better: what is called important should move the prediction. A regression: its value.
//
// The noise of a column is normal, of deviation scale x (its deviation over the pool); the draws are the same for all
// rows, and the error of the mean has a part for them. Categories have no deviation and stay as they are: a row whose
// perturbed players are all categories is undefined, and so is one that float32 is too coarse to move.
// `perturbation=baseline` puts the players at the reference instead, and moves categories too. Undefined where
// attributions are all 0. Deviation from OpenXAI: its noise has one deviation for all columns, which suits columns
// scaled to 0 .. 1, and it flips discrete columns; here each column's own deviation is the unit. Its option of an area
// over all k is left out. Cost: samples evaluations for a row, and one; baseline: 1 for each reference row, and one.
#pragma once

#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/gap.h"

namespace assay {

class PredictionGapImportant final : public Criterion {
 public:
  using Options = GapOptions;

  explicit PredictionGapImportant(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo prediction_gap_important_criterion();

}  // namespace assay

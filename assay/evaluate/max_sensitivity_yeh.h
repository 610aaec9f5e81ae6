// Maximum sensitivity to small perturbations (Yeh, Hsieh, Suggala, Inouye, Ravikumar 2019),
//   max over y with |y_j - x_j| <= radius * unit_j for all columns j of || g(y) - g(x) ||_2,
// estimated by the largest of `samples` points y that are uniform in this box. unit_j is the deviation of column j over
// the pool, 0 for categories, which stay as they are (space=scaled), or 1 (space=raw).
//
// All rows share their draws, the target is frozen at x, and a sampled method draws the same at y as at x. The largest
// of some points is at most the maximum over the box, and grows with their number: compare results of equal `samples`
// only. over=explanation divides by || g(x) ||_2, as Captum's sensitivity_max and Quantus' MaxSensitivity do.
// Undefined where an explanation is not all numbers, where no column can move, and, over=explanation, where g(x) = 0.
// Cost: `samples` explanations of each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/criterion.h"

namespace assay {

class MaxSensitivityYeh final : public Criterion {
 public:
  struct Options {
    int64_t samples = 10;
    double radius = 0.02;
    NoiseUnit unit = {};
    std::string over = "none";
    void describe(OptionVisitor& visit) {
      visit.integer("samples", samples, "points around each row", "points", 1, 1'000'000);
      visit.real("radius", radius, "half the side of the box around the row", "", 0, 1e9);
      unit.describe(visit);
      visit.choice("over", over, "what the difference is divided by: nothing, or the norm of the explanation",
                   {"none", "explanation"});
    }
  };

  explicit MaxSensitivityYeh(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

// The same over any points: perturb(s, row, x, y) writes point s of a row. Fills values, undefined and evaluations.
void max_sensitivity_over(const EvaluateTask& task, size_t samples, const Perturb& perturb, bool over_explanation,
                          Scores& scores, const Context& context);

CriterionInfo max_sensitivity_yeh_criterion();

}  // namespace assay

// Input invariance: whether an explanation depends on how its inputs are recorded (Kindermans, Hooker, Adebayo, Alber,
// Schuett, Daehne, Erhan, Kim, "The (Un)reliability of Saliency Methods", 2019),
//   D(g(f, x), g(f', x + c)),   f'(x) = f(x - c),   c_j = shift * unit_j,
// with unit_j the deviation of column j over the pool, 0 for categories (space=scaled), or 1 (space=raw). f' at the
// shifted row is f at the row, and their gradients are equal: a method that tells the two apart looks at the
// coordinates.
//
// reference=fixed keeps the reference at the same numbers (zero stays zero), which is then another point of the data;
// reference=shifted moves it along, and a method that is a function of f and of differences alone scores 0. x + c - c
// is x up to rounding in float32, so scores of about 1e-6 of the explanation are 0.
// Undefined where an explanation is not all numbers, and where no column has a deviation to be shifted by.
// Deviation from the paper: it shows pictures; here the distance between the two explanations.
// Cost: one more explanation of each row.
#pragma once

#include <optional>
#include <string>

#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {

class InputInvariance final : public Criterion {
 public:
  struct Options {
    double shift = 1;
    NoiseUnit unit = {};
    std::string reference = "fixed";
    ComparisonOptions comparison = {};
    void describe(OptionVisitor& visit) {
      visit.real("shift", shift, "how far every column is shifted", "", -1e9, 1e9);
      unit.describe(visit);
      visit.choice("reference", reference, "keeps its numbers, or moves with the rows", {"fixed", "shifted"});
      comparison.describe(visit);
    }
  };

  explicit InputInvariance(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo input_invariance_criterion();

}  // namespace assay

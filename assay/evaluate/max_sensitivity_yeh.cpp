// Maximum sensitivity to small perturbations (Yeh, Hsieh, Suggala, Inouye, Ravikumar 2019),
//   max over y with |y_j - x_j| <= radius * unit_j for all columns j of || g(y) - g(x) ||_2,
// estimated by the largest of `samples` points y that are uniform in this box. unit_j is the deviation of column j over
// the pool, 0 for categories, which stay as they are (space=scaled), or 1 (space=raw).
//
// All rows share their draws, y has the target of x, and a sampled method draws the same at y as at x. The largest of
// some points is at most the maximum over the box, and grows with their number: only compare results with equal
// `samples`. over=explanation divides by || g(x) ||_2, as Captum's sensitivity_max and Quantus' MaxSensitivity do.
// Undefined where an explanation is not all numbers, where no column can move, and, over=explanation, where g(x) = 0.
// Cost: `samples` explanations of each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

// Over these points: perturb(s, row, x, y) writes point s of a row. Fills values, undefined and evaluations.
void max_sensitivity_over(const EvaluateTask& task, size_t samples, const Perturb& perturb, bool over_explanation,
                          Scores& scores, const Context& context) {
  const MatrixView<const float> given = task.explanations.values.view();
  RowReasons reasons = given_reasons(given);
  std::vector<double> norms(given.rows(), 1);
  if (over_explanation) {
    const std::vector<float> zero(given.cols());
    for (size_t r = 0; r < given.rows(); r++) {
      norms[r] = distance_between(ExplanationDistance::l2, given.row(r), zero);
      if (norms[r] == 0) reasons.set(r, kAllZero);
    }
  }
  std::ranges::fill(scores.values, 0.0);
  explain_perturbed(
      task, samples, perturb, false,
      [&](const PerturbedRow& at) {
        if (!all_finite(at.values)) {
          reasons.set(at.row, kAgainNotFinite);
          return;
        }
        const double apart = distance_between(ExplanationDistance::l2, given.row(at.row), at.values);
        scores.values[at.row] = std::max(scores.values[at.row], apart / norms[at.row]);
      },
      scores.evaluations, context, "max_sensitivity_yeh");
  reasons.store(scores);
}

struct MaxSensitivityYehOptions {
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

std::optional<Refusal> refuses_around_rows(const EvaluateTask& task, const MaxSensitivityYehOptions& options) {
  if (const auto reason = refuses_unit(task, options.unit.space)) return reason;
  return refuses_again(task);
}

void score_around_rows(const EvaluateTask& task, const MaxSensitivityYehOptions& options, Scores& scores,
                       const Context& context) {
  std::vector<float> units = column_units(task, options.unit.space);
  scores.notes.push_back(fmt::format("the largest of {} points within {} {} of each row, uniform in every column",
                                     options.samples, options.radius,
                                     options.unit.space == "raw" ? "(raw units)" : "deviations of the pool's columns"));
  if (std::ranges::all_of(units, [](float unit) { return unit == 0; })) {
    scores.undefined = {{std::string(kNothingMoves), task.rows()}};
    return;
  }
  const auto samples = static_cast<size_t>(options.samples);
  const Perturb noise =
      make_noise(NoiseShape::uniform, options.radius, std::move(units), samples, context.seed, "max_sensitivity_yeh");
  max_sensitivity_over(task, samples, noise, options.over == "explanation", scores, context);
}

}  // namespace

CriterionInfo max_sensitivity_yeh_criterion() {
  return with_criterion_options<ScoredBy<score_around_rows, refuses_around_rows>>(
      {.name = "max_sensitivity_yeh",
       .title = "Largest change of the explanation when the row is perturbed a little",
       .family = "stability",
       .citation = "Yeh, Hsieh, Suggala, Inouye, Ravikumar (2019)",
       .cost = "`samples` explanations (default 10)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true},
       .scale_dependent = &distance_has_scale});
}

}  // namespace assay

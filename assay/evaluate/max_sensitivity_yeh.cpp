#include "assay/evaluate/max_sensitivity_yeh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/common.h"

namespace assay {

std::optional<std::string> MaxSensitivityYeh::refuses(const EvaluateTask& task) const {
  if (const auto reason = refuses_unit(task, options_.unit.space)) return reason;
  return refuses_again(task);
}

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

void MaxSensitivityYeh::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  std::vector<float> units = column_units(task, options_.unit.space);
  scores.notes.push_back(
      fmt::format("the largest of {} points within {} {} of each row, uniform in every column", options_.samples,
                  options_.radius, options_.unit.space == "raw" ? "(raw units)" : "deviations of the pool's columns"));
  if (std::ranges::all_of(units, [](float unit) { return unit == 0; })) {
    scores.undefined = {{std::string(kNothingMoves), task.rows()}};
    return;
  }
  const auto samples = static_cast<size_t>(options_.samples);
  const Perturb noise =
      make_noise(NoiseShape::uniform, options_.radius, std::move(units), samples, context.seed, "max_sensitivity_yeh");
  max_sensitivity_over(task, samples, noise, options_.over == "explanation", scores, context);
}

CriterionInfo max_sensitivity_yeh_criterion() {
  return with_criterion_options<MaxSensitivityYeh>(
      {.name = "max_sensitivity_yeh",
       .title = "Largest change of the explanation when the row is perturbed a little",
       .family = "stability",
       .citation = "Yeh, Hsieh, Suggala, Inouye, Ravikumar (2019)",
       .cost = "`samples` explanations (default 10)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

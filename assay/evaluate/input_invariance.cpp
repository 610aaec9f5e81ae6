#include "assay/evaluate/input_invariance.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/again/shifted_model.h"

namespace assay {

std::optional<std::string> InputInvariance::refuses(const EvaluateTask& task) const {
  if (const auto reason = refuses_unit(task, options_.unit.space)) return reason;
  return refuses_again(task);
}

void InputInvariance::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  std::vector<float> c = column_units(task, options_.unit.space);
  for (float& each : c) each = static_cast<float>(options_.shift * each);
  scores.notes.push_back(fmt::format("every column shifted by {} {}, the reference {}", options_.shift,
                                     options_.unit.space == "raw" ? "(raw units)" : "of its deviations over the pool",
                                     options_.reference == "fixed" ? "left where it is" : "with them"));
  if (std::ranges::all_of(c, [](float each) { return each == 0; })) {
    scores.undefined = {{std::string(kNothingMoves), task.rows()}};
    return;
  }
  const auto add_shift = [&](std::span<float> row) {
    for (size_t i = 0; i < row.size(); i++) row[i] += c[i];
  };
  Reference reference = reference_or_none(task);
  if (options_.reference == "shifted") {
    for (size_t r = 0; r < reference.rows.rows(); r++) add_shift(reference.rows.row(r));
  }
  const std::unique_ptr<Model> shifted = shifted_model(*task.model, c);
  const Comparison compare(task.explanations.values.view(), options_.comparison);
  RowReasons reasons = given_reasons(task.explanations.values.view());
  explain_all_again(
      task, {.model = shifted.get(), .reference = &reference}, add_shift,
      [&](size_t row, std::span<const float> values) { scores.values[row] = compare(row, values, reasons); },
      scores.evaluations, context, "input_invariance");
  reasons.store(scores);
}

CriterionInfo input_invariance_criterion() {
  return with_criterion_options<InputInvariance>(
      {.name = "input_invariance",
       .title = "Change of the explanation when all inputs are shifted and the model takes it back",
       .family = "stability",
       .citation = "Kindermans, Hooker, Adebayo, Alber, Schuett, Daehne, Erhan, Kim (2019)",
       .cost = "1 explanation",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

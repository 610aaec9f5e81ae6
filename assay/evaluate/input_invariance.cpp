// Input invariance: whether an explanation depends on how its inputs are recorded (Kindermans, Hooker, Adebayo, Alber,
// Schuett, Daehne, Erhan, Kim, "The (Un)reliability of Saliency Methods", 2019),
//   D(g(f, x), g(f', x + c)),   f'(x) = f(x - c),   c_j = shift * unit_j,
// with unit_j the deviation of column j over the pool, 0 for categories (space=scaled), or 1 (space=raw). f' at the
// shifted row is f at the row, and their gradients are equal: a method that gives different explanations depends on how
// the inputs are recorded.
//
// reference=fixed keeps the numbers of the reference (zero stays zero), which then stand for another point.
// reference=shifted moves the reference along; a method that uses only f and differences from the reference then scores
// 0. x + c - c is x up to rounding in float32, so scores of about 1e-6 of the explanation are 0.
// Undefined where an explanation is not all numbers, and where no column has a deviation to be shifted by.
// Deviation from the paper: it shows pictures; here the distance between the two explanations.
// Cost: one more explanation of each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text.h"
#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/perturbed_rows.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/again/shifted_model.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/methods.h"
#include "assay/model/trees/ensemble.h"

namespace assay {
namespace {

struct InputInvarianceOptions {
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

std::vector<float> shifts_of(const EvaluateTask& task, const InputInvarianceOptions& options) {
  std::vector<float> c = column_units(task, options.unit.space);
  for (float& each : c) each = static_cast<float>(options.shift * each);
  return c;
}

// A method that explains trees needs trees that decide on the shifted rows as the model's do on the rows.
std::optional<Refusal> refuses_shifted_trees(const EvaluateTask& task, std::span<const float> c) {
  const TreeScores* const scores = task.subject.model->tree_scores();
  if (scores == nullptr || !find_method(task.method->name).for_trees || scores->trees().shifted(c)) return {};
  return fmt::format(
      "cannot shift the trees of {}, which do not compare every shifted column by size alone: explain by a method that "
      "only runs the model",
      task.subject.model->info().name);
}

std::optional<Refusal> refuses_shift(const EvaluateTask& task, const InputInvarianceOptions& options) {
  if (const auto reason = refuses_unit(task, options.unit.space)) return reason;
  if (const auto reason = refuses_again(task)) return reason;
  const std::vector<float> c = shifts_of(task, options);
  for (size_t i = 0; i < c.size(); i++) {
    if (std::isfinite(c[i])) continue;
    return fmt::format("cannot shift column {} by {}: its numbers in the pool are too large for a deviation",
                       in_quotes(task.subject.model->info().feature_names[i]), c[i]);
  }
  return refuses_shifted_trees(task, c);
}

void score_invariance(const EvaluateTask& task, const InputInvarianceOptions& options, Scores& scores,
                      const Context& context) {
  const std::vector<float> c = shifts_of(task, options);
  scores.notes.push_back(fmt::format("every column shifted by {} {}, the reference {}", options.shift,
                                     options.unit.space == "raw" ? "(raw units)" : "of its deviations over the pool",
                                     options.reference == "fixed" ? "left where it is" : "with them"));
  if (std::ranges::all_of(c, [](float each) { return each == 0; })) {
    scores.undefined = {{std::string(kNothingMoves), task.rows()}};
    return;
  }
  const auto add_shift = [&](std::span<float> row) {
    for (size_t i = 0; i < row.size(); i++) row[i] += c[i];
  };
  Reference reference = reference_or_none(task);
  if (options.reference == "shifted") {
    for (size_t r = 0; r < reference.rows.rows(); r++) add_shift(reference.rows.row(r));
  }
  const std::unique_ptr<Model> shifted = shifted_model(*task.subject.model, c);
  const Comparison compare(task.explanations.values.view(), options.comparison);
  RowReasons reasons = given_reasons(task.explanations.values.view());
  explain_all_again(
      task, {.model = shifted.get(), .reference = &reference}, add_shift,
      [&](size_t row, std::span<const float> values) { scores.values[row] = compare(row, values, reasons); },
      scores.evaluations, context, "input_invariance");
  reasons.store(scores);
}

}  // namespace

CriterionInfo input_invariance_criterion() {
  return with_criterion_options<ScoredBy<score_invariance, refuses_shift>>(
      {.name = "input_invariance",
       .title = "Change of the explanation when all inputs are shifted and the model takes it back",
       .family = "stability",
       .citation = "Kindermans, Hooker, Adebayo, Alber, Schuett, Daehne, Erhan, Kim (2019)",
       .cost = "1 explanation",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true},
       .scale_dependent = &distance_has_scale});
}

}  // namespace assay

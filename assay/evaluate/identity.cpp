#include "assay/evaluate/identity.h"

#include <fmt/format.h>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/explain/methods.h"

namespace assay {

std::optional<std::string> Identity::refuses(const EvaluateTask& task) const { return refuses_again(task); }

void Identity::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const Comparison compare(task.explanations.values.view(), options_.comparison);
  RowReasons reasons = given_reasons(task.explanations.values.view());
  explain_all_again(
      task, {.seed = fresh_seed(context.seed, task.method_seed)}, {},
      [&](size_t row, std::span<const float> values) { scores.values[row] = compare(row, values, reasons); },
      scores.evaluations, context, "identity");
  reasons.store(scores);
  const bool sampled = find_method(task.method->name).sampled;
  scores.notes.push_back(
      fmt::format("the explanations as given, beside {} called once more {}", task.method->name,
                  sampled ? "with fresh random streams"
                          : "(it does not sample: a difference means another build, model, data or fewer digits)"));
}

CriterionInfo identity_criterion() {
  return with_criterion_options<Identity>({.name = "identity",
                                           .title = "Whether the same row has the same explanation twice",
                                           .family = "predictability",
                                           .citation = "Bhatt, Weller, Moura (2020)",
                                           .cost = "1 explanation",
                                           .direction = Direction::lower,
                                           .range = "0 to d (l0), 0 or more",
                                           .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

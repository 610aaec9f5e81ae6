#include "assay/evaluate/joining/explained_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

void check_pool_unit(const NamedExplanations& pool, const NamedExplanations& own, const OwnedSubject& subject) {
  const std::string expected = subject.model == nullptr ? own.explanations.provenance.unit
                                                        : explained_unit(subject.model->info(), subject.targets);
  const std::string& found = pool.explanations.provenance.unit;
  if (expected.empty() || found.empty() || expected == found) return;
  fail_input(pool.name, fmt::format("explanations in the unit {}, as {} has it", expected, own.name), found);
}

void expect_target(const NamedExplanations& pool, size_t row, const std::string& expected, std::string_view why) {
  const Explanations& found = pool.explanations;
  const std::string& name = found.target_names[found.target[row]];
  if (name == expected) return;
  fail_input(pool.name, fmt::format("the target {} for {}, {}", in_quotes(expected), row_in_words(found.ids, row), why),
             in_quotes(name));
}

// Without a model only a target that is one for all rows is known.
void check_named_target(const NamedExplanations& pool, const NamedExplanations& own) {
  const std::string& target = own.explanations.provenance.target;
  if (target.empty() || target == kPredictedTarget) return;
  for (size_t row = 0; row < pool.explanations.rows(); row++) {
    expect_target(pool, row, target, fmt::format("as in {}", own.name));
  }
}

}  // namespace

std::optional<Spec> method_behind(const Explanations& explanations, std::string* why_not) {
  const Provenance& made = explanations.provenance;
  if (made.method.empty() || !explanations.combination.members.empty()) return {};
  const auto refuse = [&](std::string_view why) -> std::optional<Spec> {
    if (why_not != nullptr) *why_not = fmt::format("made by {}, {}", in_quotes(made.method), why);
    return {};
  };
  Spec spec{made.method, made.options};
  const MethodInfo* method = nullptr;
  try {
    method = &find_method(spec.name);
  } catch (const Error&) {
    return refuse("which this version does not know");
  }
  try {
    method->make(spec);
  } catch (const Error& problem) {
    return refuse(fmt::format("with options that this version refuses ({})", problem.what()));
  }
  return spec;
}

std::optional<TargetChoice> choice_behind(const Targets& targets, const Model& model, MatrixView<const float> rows,
                                          const Context& context) {
  const std::vector<uint32_t>& of_row = targets.of_row;
  if (of_row.empty()) return {};
  if (std::ranges::all_of(of_row, [&](uint32_t each) { return each == of_row[0]; })) {
    return TargetChoice{.predicted = false, .which = of_row[0]};
  }
  if (model.info().class_names.empty()) return {};
  const TargetChoice predicted{.predicted = true};
  const bool same = freeze_targets(model, rows, predicted, context).of_row == of_row;
  return same ? std::optional(predicted) : std::nullopt;
}

size_t check_explained_pool(const NamedExplanations& pool, const NamedExplanations& own, const OwnedSubject& subject,
                            const Targets* targets, std::string_view advice, const Context& context) {
  const Explanations& found = pool.explanations;
  check_player_names(pool.name, found, own.explanations.features, own.name);
  check_pool_unit(pool, own, subject);
  if (subject.pool == nullptr) {
    if (!found.target.empty()) check_named_target(pool, own);
    return 0;
  }
  check_explained_rows(pool.name, found, *subject.pool, advice);
  if (found.target.empty()) return 0;
  const Targets said =
      targets == nullptr ? named_targets(pool.name, found, *subject.model, subject.pool->x.view()) : *targets;
  const std::string why = said.predicted ? "the class it is predicted to be, as for the rows of " : "as in ";
  for (size_t row = 0; row < said.of_row.size(); row++) {
    expect_target(pool, row, said.names[said.of_row[row]], fmt::format("{}{}", why, own.name));
  }
  if (!has_own_outputs(found)) return 0;
  return check_explained_values(pool.name, found, *subject.model, *subject.pool, said, "", context);
}

}  // namespace assay

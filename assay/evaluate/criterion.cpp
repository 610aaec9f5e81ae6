#include "assay/evaluate/criterion.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/error.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/missing_part.h"

namespace assay {
namespace {

// The first need that is not met, in words.
std::optional<Refusal> missing_need(const Needs& needs, const EvaluateTask& task) {
  if (auto missing = missing_part(task.subject, needs.model, needs.reference, needs.pool)) return missing;
  if (needs.pool_explanations && task.pool_explanations == nullptr) {
    return Refusal("needs explanations of the pool's rows, or the method to make them", Need::pool_explanations);
  }
  if (needs.labels && (task.subject.rows == nullptr || task.subject.rows->labels.empty()))
    return Refusal("needs labels of the rows", Need::labels);
  if (needs.trainer && !task.subject.trainer) return "needs a model that can be trained again";
  if (needs.others && task.others.empty())
    return Refusal("needs other explanations of the same rows to compare with", Need::others);
  return {};
}

void expect(std::string_view what, size_t found, size_t expected) {
  if (found == expected) return;
  fail_input(fmt::format("the explanations: expected {} {}, found {}", expected, what, found));
}

void check_shapes(const EvaluateTask& task) {
  const size_t rows = task.rows();
  const size_t players = task.explanations.players();
  if (rows == 0) fail_input("the explanations have no rows");
  if (task.subject.rows != nullptr) expect("rows, as many as there are explained", rows, task.subject.rows->rows());
  if (task.subject.players != nullptr) expect("columns, one for each player", players, task.subject.players->size());
  if (task.subject.targets != nullptr) expect("targets, one for each row", task.subject.targets->of_row.size(), rows);
  if (task.subject.pool != nullptr && task.subject.rows != nullptr) {
    expect("columns in the pool's rows", task.subject.pool->x.cols(), task.subject.rows->x.cols());
  }
  if (task.subject.pool != nullptr && task.pool_explanations != nullptr) {
    expect("rows in the pool's explanations, one for each of its rows", task.pool_explanations->rows(),
           task.subject.pool->rows());
    expect("columns in the pool's explanations", task.pool_explanations->players(), players);
  }
  for (const Explanations* other : task.others) {
    expect("rows in the explanations to compare with", other->rows(), rows);
    expect("columns in the explanations to compare with", other->players(), players);
  }
}

bool lacks_explainer(const Needs& needs, const EvaluateTask& task) { return needs.explainer && task.method == nullptr; }

}  // namespace

bool always_has_scale(const Spec& /*spec*/) { return true; }

bool distance_has_scale(const Spec& spec) {
  const auto is = [&](std::string_view name, std::string_view value) {
    return std::ranges::any_of(spec.options,
                               [&](const auto& each) { return each.first == name && each.second == value; });
  };
  const bool counts = is("distance", "l0") || is("distance", "cosine") || is("distance", "kendall");
  return !counts && !is("normalise", "unit") && !is("over", "explanation");
}

std::optional<Refusal> criterion_refusal(const Spec& spec, const EvaluateTask& task) {
  const CriterionInfo& info = find_criterion(spec.name);
  const std::unique_ptr<Criterion> criterion = info.make(spec);
  const Needs needs = criterion->needs(info.needs);
  if (lacks_explainer(needs, task)) return {};
  std::optional<Refusal> reason = missing_need(needs, task);
  if (!reason) reason = criterion->refuses(task);
  if (!reason) return {};
  return Refusal(fmt::format("{} {}", info.name, reason->reason), reason->need);
}

Scores evaluate(const Spec& spec, const EvaluateTask& task, const SummaryOptions& summary, const Context& context) {
  const CriterionInfo& info = find_criterion(spec.name);
  const std::unique_ptr<Criterion> criterion = info.make(spec);
  check_shapes(task);
  Scores scores;
  scores.criterion = info.name;
  scores.direction = info.direction;
  for (const OptionInfo& option : info.options) {
    const auto given = std::ranges::find(spec.options, option.name, &std::pair<std::string, std::string>::first);
    scores.options.emplace_back(option.name, given == spec.options.end() ? option.value : given->second);
  }
  scores.of_rows = criterion->scores_rows();
  scores.values.assign(task.rows(), NAN);
  if (lacks_explainer(criterion->needs(info.needs), task)) {
    scores.undefined = {{"attributions made elsewhere cannot be made again", task.rows()}};
  } else {
    if (const auto reason = criterion_refusal(spec, task)) refuse(*reason);
    criterion->score(task, scores, context);
  }
  summarise(scores, summary, context);
  return scores;
}

}  // namespace assay

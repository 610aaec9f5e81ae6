#include "assay/study/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/evaluate/criteria.h"
#include "assay/evaluate/neighbourhoods/kernels.h"
#include "assay/evaluate/neighbourhoods/sensitivity.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

constexpr std::array<CriterionRole, 2> kSensitivities = {CriterionRole::largest_change, CriterionRole::stability};
constexpr std::array<CriterionRole, 2> kVaried = {CriterionRole::faithfulness, CriterionRole::simplicity};
constexpr size_t kSubsetSizes = 8;                  // points of the curve
constexpr size_t kSharedBytes = size_t{256} << 20;  // of the values that entries share

const Spec* first_for(const StudyPlan& plan, CriterionRole role) {
  const auto found = std::ranges::find(plan.criteria, role, [](const Spec& spec) { return role_of(spec.name); });
  return found == plan.criteria.end() ? nullptr : &*found;
}

Scores undefined_scores(const Spec& spec, size_t rows, std::string reason) {
  const CriterionInfo& info = find_criterion(spec.name);
  Scores scores;
  scores.criterion = info.name;
  scores.direction = info.direction;
  for (const auto& option : spec.options) scores.options.push_back(option);
  scores.values.assign(rows, NAN);
  scores.undefined = {{std::move(reason), rows}};
  return scores;
}

// If the criterion cannot score the entry, all rows are undefined with the reason: one entry must not end a study.
Scores scores_or_reason(const Spec& spec, const EvaluateTask& task, const Context& context) {
  try {
    return evaluate(spec, task, {}, context);
  } catch (const Error& problem) {
    if (problem.kind() != ErrorKind::unsupported) throw;
    return undefined_scores(spec, task.rows(), problem.what());
  }
}

void add_point(double x, const Scores& scores, Curve& curve) {
  curve.x.push_back(x);
  curve.mean.push_back(scores.mean);
  curve.error.push_back(scores.mean_error);
  curve.coverage.push_back(scores.coverage);
}

// Sensitivity over radii. Explains the neighbours within the largest radius first: they include all others.
Curve radius_curve(StudyNeighbourhoods& found, const EvaluateTask& task, const Context& context) {
  Curve curve{.criterion = found.spec.name, .along = "radius", .x = {}, .mean = {}, .error = {}, .coverage = {}};
  Neighbourhoods& around = found.around;
  if (found.radii.empty()) return curve;
  around.set_radius(found.radii.back());
  explain_neighbours(task, around, context);
  for (const double radius : found.radii) {
    around.set_radius(radius);
    Scores scores;
    scores.values.assign(task.rows(), NAN);
    const Fold fold = role_of(found.spec.name) == CriterionRole::largest_change ? Fold::max : Fold::mean;
    score_in_neighbourhoods(task, around, found.options, fold, scores, context);
    summarise(scores, {.draws = 0}, context);
    add_point(radius, scores, curve);
  }
  return curve;
}

// Faithfulness over subset sizes, from the table of the criterion that scores all sizes at once.
std::optional<Curve> subset_curve(const Spec& faithfulness, const EvaluateTask& task, uint64_t& evaluations,
                                  const Context& context) {
  const auto info = std::ranges::find(criteria(), true, &CriterionInfo::by_subset_size);
  if (info == criteria().end()) return {};
  const Spec spec{info->name, {{"sizes", fmt::format("{}", kSubsetSizes)}, {"samples", "100"}}};
  if (criterion_refusal(spec, task)) return {};
  const Scores scores = evaluate(spec, task, {.draws = 0}, context);
  const auto table = std::ranges::find(scores.tables, "by size", &ScoreTable::name);
  if (table == scores.tables.end()) return {};
  const auto column = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(table->columns, name) - table->columns.begin());
  };
  const size_t size = column("size");
  const size_t mean = column("mean");
  const size_t error = column("stderr");
  const size_t defined = column("rows");
  if (std::max({size, mean, error, defined}) >= table->columns.size()) {
    throw Error(ErrorKind::internal, fmt::format("the table of {} has other columns", spec.name));
  }
  Curve curve{.criterion = faithfulness.name, .along = "subset", .x = {}, .mean = {}, .error = {}, .coverage = {}};
  for (const std::vector<double>& row : table->rows) {
    curve.x.push_back(row[size]);
    curve.mean.push_back(row[mean]);
    curve.error.push_back(row[error]);
    curve.coverage.push_back(row[defined] / static_cast<double>(task.rows()));
  }
  evaluations += scores.evaluations;
  return curve;
}

// values: those of the game with this reference.
Variation means_of(const Scoring& scoring, const Spec& method, const Reference& reference, SubsetValues& values,
                   uint64_t seed, const Context& context) {
  Context seeded = context;
  seeded.seed = seed;
  const Subject subject = with_reference(scoring.subject, reference);
  const Explanations made = explain(method, subject, seeded);
  const EvaluateTask task{.explanations = made,
                          .subject = subject,
                          .method = &method,
                          .method_seed = made.provenance.seed,
                          .subset_values = &values};
  Variation variation;
  for (const CriterionRole role : kVaried) {
    const Spec* spec = first_for(scoring.plan, role);
    if (spec == nullptr) continue;
    variation.criteria.push_back(spec->name);
    variation.mean.push_back(scores_or_reason(*spec, task, context).mean);
  }
  return variation;
}

}  // namespace

Scoring prepare_scoring(const Subject& subject, const StudyPlan& plan, const Context& context) {
  Scoring made{subject, plan};
  for (const CriterionRole role : kSensitivities) {
    const Spec* spec = first_for(plan, role);
    if (spec != nullptr && plan.options.curves) {
      made.neighbourhoods.push_back(study_neighbourhoods(subject, *spec, true, context));
    }
  }
  const size_t references = 1 + (plan.options.variations ? subject.other_references.size() : 0);
  made.subset_values.assign(references, SubsetValues(kSharedBytes / references));
  return made;
}

void score_entry(Scoring& scoring, const EvaluateTask& task, const EvaluateTask& own, bool first, StudyEntry& entry,
                 const Context& context) {
  scoring.subset_values.front().count_evaluations(first);
  entry.evaluations = entry.explanations.evaluations;
  for (const Spec& spec : scoring.plan.criteria) {
    context.check_cancelled();
    const CriterionInfo& info = find_criterion(spec.name);
    if (info.reads_signs && !has_signs(entry.explanations)) {
      entry.scores.push_back(undefined_scores(spec, task.rows(), "ranks have no signs, which this criterion reads"));
      continue;
    }
    entry.scores.push_back(scores_or_reason(spec, info.needs.explainer ? own : task, context));
    entry.evaluations += entry.scores.back().evaluations;
  }
  if (!scoring.plan.options.curves) return;
  if (task.pool_explanations != nullptr && has_signs(entry.explanations)) {
    for (StudyNeighbourhoods& found : scoring.neighbourhoods) {
      entry.curves.push_back(radius_curve(found, task, context));
    }
  }
  const Spec* faithfulness = first_for(scoring.plan, CriterionRole::faithfulness);
  if (faithfulness == nullptr || !has_signs(entry.explanations)) return;
  if (auto curve = subset_curve(*faithfulness, task, entry.evaluations, context)) {
    entry.curves.push_back(std::move(*curve));
  }
}

std::vector<Variation> score_variations(Scoring& scoring, const Spec& method, const Context& context) {
  std::vector<Variation> made;
  if (!scoring.plan.options.variations) return made;
  const MethodInfo& info = find_method(method.name);
  const auto add = [&](std::string what, std::string value, const Reference& reference, SubsetValues& values,
                       uint64_t seed) {
    Variation variation = means_of(scoring, method, reference, values, seed, context);
    if (variation.criteria.empty()) return;
    variation.what = std::move(what);
    variation.value = std::move(value);
    made.push_back(std::move(variation));
  };
  if (info.sampled) {
    const uint64_t other = context.seed + 1;
    add("seed", fmt::format("{}", other), *scoring.subject.reference, scoring.subset_values.front(), other);
  }
  for (size_t i = 0; i < scoring.subject.other_references.size(); i++) {
    const Reference& other = scoring.subject.other_references[i];
    // Also for methods that ignore the reference: their faithfulness still changes with it.
    add("reference", other.description, other, scoring.subset_values[i + 1], context.seed);
  }
  return made;
}

}  // namespace assay

// Table 4 of the paper: sensitivity and complexity of AVA and of SHAP. AVA is a mean of the explanations of a row's
// nearest training rows.
//
// AVA of a row is the inverse-distance weighted mean of SHAP at its ten nearest pool rows (its antecedents), each
// explained for the row's own target (aggregate/ava.cpp). For sensitivity, neighbours are explained by AVA too; no row
// is its own antecedent. A mean is shorter than the vectors it is made of, which alone would lower distances; so
// explanations are compared at unit norm unless the set-up says otherwise.
//
// Cost: one SHAP explanation of each pool row that is an antecedent, for each target.
// Deviation from the paper: it states neither k nor which class of an antecedent is explained. What it prints after +-
// may be the deviation over rows; ours is a column of its own.
#include <fmt/format.h>

#include <array>

#include "assay/aggregate/aggregator.h"
#include "assay/study/reproduce/radii.h"

namespace assay {
namespace {

double deviation_over_rows(const Scores& scores) {
  RunningMoments moments;
  for (const double value : scores.values) {
    if (!std::isnan(value)) moments.add(value);
  }
  return moments.standard_deviation();
}

void measure_explanations(std::string_view row, const EvaluateTask& task, const Setup& setup, double automatic,
                          const CellKey& where, Results& results, const Context& context) {
  const auto add = [&](const std::string& column, const Scores& scores) {
    CellKey key = where;
    key.row = row;
    key.column = column;
    results.add(key, scores.mean, scores.coverage);
    key.column = fmt::format("{}, deviation over rows", column);
    results.add(key, deviation_over_rows(scores), scores.coverage);
  };
  for (const std::string_view kind : {"avg", "max"}) {
    context.check_cancelled();
    const double radius = paper_radius(PaperTable::ava, where.data);
    add(fmt::format("{} at r", kind), sensitivity_scores(task, setup, PaperTable::ava, kind, radius, context));
    add(fmt::format("{} at 1x", kind), sensitivity_scores(task, setup, PaperTable::ava, kind, automatic, context));
  }
  const Spec complexity = parse_spec("reproduce", fmt::format("complexity:part={}", setup.complexity));
  add("complexity", evaluate(complexity, task, {.draws = 0}, context));
}

}  // namespace

void measure_ava(const Bench& bench, const Setup& setup, const CellKey& where, Results& results,
                 const Context& context) {
  const Spec& method = paper_methods()[0].spec;
  const uint64_t seed = bench.trained->seed;
  const Subject subject = bench.against(bench.explained_against(setup, nullptr));
  const Explanations shap = explain(method, subject, context);
  PoolExplanations shap_of_pool = pool_explanations_by(subject, method, seed);
  const EvaluateTask shap_task{.explanations = shap, .subject = subject, .pool_explanations = &shap_of_pool};
  const double automatic = automatic_radius(shap_task, context);
  CellKey key = where;
  key.row = "neighbourhoods";
  key.column = "radius of ten neighbours";
  results.add(key, automatic);
  measure_explanations("SHAP", shap_task, setup, automatic, where, results, context);

  const std::array<const Explanations*, 1> members = {&shap};
  const std::array<std::string, 1> names = {method.name};
  const AggregateTask task{
      .members = members, .names = names, .subject = subject, .method = &method, .method_seed = seed};
  const Spec spec = ava_spec(setup);
  const Aggregate made = aggregate(spec, task, context);
  PoolExplanations ava_of_pool = aggregate_of_pool(spec, task, made);
  const EvaluateTask ava_task{.explanations = made.explanations, .subject = subject, .pool_explanations = &ava_of_pool};
  measure_explanations("AVA", ava_task, setup, automatic, where, results, context);
}

}  // namespace assay

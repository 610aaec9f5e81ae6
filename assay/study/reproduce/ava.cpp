// Table 4 of the paper: sensitivity and complexity of AVA and of SHAP. AVA is a mean of the explanations of a row's
// nearest training rows.
//
// AVA of a row is the inverse-distance weighted mean of SHAP at its ten nearest pool rows (its antecedents), each
// explained for the row's own target (aggregate/ava.cpp). For sensitivity, neighbours are explained by AVA too; no row
// is its own antecedent. Explanations are scaled to unit norm before they are compared: a mean is shorter than the
// vectors it is made of, which alone would lower distances.
//
// Cost: one SHAP explanation of each pool row that is an antecedent, for each target.
// Deviation from the paper: it states neither k nor which class of an antecedent is explained. What it prints after +-
// is taken as the deviation over rows; ours is reported as a number of its own.
#include <fmt/format.h>

#include <array>

#include "assay/aggregate/aggregator.h"
#include "assay/core/table_text.h"
#include "assay/study/reproduce/paper_radii.h"
#include "assay/study/reproduce/protocol.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

constexpr std::string_view kShap = "SHAP";
constexpr std::string_view kAva = "AVA";
constexpr std::string_view kComplexity = "complexity";
constexpr std::string_view kSpread = "deviation over rows of ";
constexpr std::array<double, 3> kTable4Radii = {1, 0.3, 10};  // by PaperSet

struct PaperCell {
  double value = NAN;
  double spread = NAN;
};
// [average sensitivity, maximum sensitivity, complexity][PaperSet]
using PaperRows = std::array<std::array<PaperCell, 3>, 3>;
constexpr PaperRows kPaperShap = {{{{{0.16, 0.11}, {0.22, 0.25}, {0.47, 0.12}}},
                                   {{{0.68, 0.13}, {1.20, 0.36}, {0.83, 0.17}}},
                                   {{{1.94, 0.26}, {1.36, 0.36}, {2.33, 0.23}}}}};
constexpr PaperRows kPaperAva = {{{{{0.07, 0.07}, {0.13, 0.18}, {0.31, 0.13}}},
                                  {{{0.52, 0.11}, {1.18, 0.28}, {0.72, 0.22}}},
                                  {{{1.93, 0.24}, {1.24, 0.32}, {2.61, 0.29}}}}};

double table_4_radius(PaperSet set) { return kTable4Radii[static_cast<size_t>(set)]; }

double deviation_over_rows(const Scores& scores) {
  RunningMoments moments;
  for (const double value : scores.values) {
    if (!std::isnan(value)) moments.add(value);
  }
  return moments.standard_deviation();
}

void add_scores(std::string_view row, const std::string& column, const PaperCell& paper, const Scores& scores,
                SetResults& set) {
  set.table.add({std::string(row), column, paper.value, paper.spread}, scores.mean, scores.coverage);
  set.table.add({std::string(row), fmt::format("{}{}", kSpread, column), paper.spread}, deviation_over_rows(scores),
                scores.coverage);
}

void measure_explanations(std::string_view row, const PaperRows& paper, const EvaluateTask& task, double automatic,
                          SetResults& set, const Context& context) {
  const auto of_set = static_cast<size_t>(set.plan.paper);
  const double radius = table_4_radius(set.plan.paper);
  for (const bool divided : {false, true}) {
    for (const size_t k : {size_t{0}, size_t{1}}) {
      context.check_cancelled();
      const std::string_view kind = k == 0 ? "avg" : "max";
      add_scores(row, sensitivity_column(kind, radius_words(radius), divided), paper[k][of_set],
                 sensitivity_scores(task, kind, radius, divided, context), set);
      add_scores(row, sensitivity_column(kind, kAutomaticRadius, divided), {},
                 sensitivity_scores(task, kind, automatic, divided, context), set);
    }
  }
  add_scores(row, std::string(kComplexity), paper[2][of_set], bench_scores("complexity", task, context), set);
}

void measure_ava(const Bench& bench, SetResults& set, const Context& context) {
  const Spec method{"kernel_shap"};
  const Subject subject = bench.against(bench.mean);
  const Explanations shap = explain(method, subject, context);
  PoolExplanations shap_of_pool = pool_explanations_by(subject, method, bench.seed);
  const EvaluateTask shap_task{.explanations = shap, .subject = subject, .pool_explanations = &shap_of_pool};
  const double automatic = automatic_radius(shap_task, context);
  set.table.add({"neighbourhoods", "radius found by r = auto"}, automatic);
  measure_explanations(kShap, kPaperShap, shap_task, automatic, set, context);

  const std::array<const Explanations*, 1> members = {&shap};
  const std::array<std::string, 1> names = {"kernel_shap"};
  const AggregateTask task{
      .members = members, .names = names, .subject = subject, .method = &method, .method_seed = bench.seed};
  const Spec spec = parse_spec("reproduce", "ava:k=10:class=query");
  const Aggregate made = aggregate(spec, task, context);
  PoolExplanations ava_of_pool = aggregate_of_pool(spec, task, made);
  const EvaluateTask ava_task{.explanations = made.explanations, .subject = subject, .pool_explanations = &ava_of_pool};
  measure_explanations(kAva, kPaperAva, ava_task, automatic, set, context);
}

struct AvaComparison {
  Support lower = Support::unclear;
  std::string text;
};

// Support for "AVA is below SHAP".
AvaComparison ava_lower(const SetResults& set, const std::string& column) {
  const std::span<const double> shap = set.table.values(kShap, column);
  const std::span<const double> ava = set.table.values(kAva, column);
  const PairedRuns compared = compare_runs(ava, shap);
  return {opposite(compared.above),
          fmt::format("{}: AVA {}, SHAP {}, difference {}", column, short_number(summarise_runs(ava).mean),
                      short_number(summarise_runs(shap).mean), summary_text(compared.difference))};
}

Evidence ava_less_sensitive(const SetResults& set, std::string_view radius, bool divided) {
  const AvaComparison average = ava_lower(set, sensitivity_column("avg", radius, divided));
  const AvaComparison most = ava_lower(set, sensitivity_column("max", radius, divided));
  const std::array<Support, 2> parts = {average.lower, most.lower};
  return {all_of_them(parts), fmt::format("{}, and {}", average.text, most.text)};
}

Finding judge_ava_sensitivity(const SetResults& set, bool divided) {
  const std::string radius = judged_radius(set.table, kShap, table_4_radius(set.plan.paper));
  const std::array<Evidence, 1> evidence = {ava_less_sensitive(set, radius, divided)};
  Finding finding = make_finding(fmt::format("AVA lowers average and maximum sensitivity {} on {}",
                                             divided ? "of D / rho" : "of D", set.plan.data),
                                 evidence);
  // The paper's radius includes nearly all rows of some sets. This radius has only near neighbours on every set.
  if (radius != kAutomaticRadius) {
    const Evidence near = ava_less_sensitive(set, kAutomaticRadius, divided);
    finding.evidence += fmt::format(" Among near neighbours, {}: {}.", near.text, support_word(near.support));
  }
  return finding;
}

void judge_ava(const std::vector<SetResults>& sets, Reproduction& out) {
  for (const SetResults& set : sets) {
    for (const bool divided : {false, true}) out.findings.push_back(judge_ava_sensitivity(set, divided));
  }
  std::vector<Evidence> small;
  std::vector<Evidence> large;
  for (const SetResults& set : sets) {
    const AvaComparison compared = ava_lower(set, std::string(kComplexity));
    const std::string text = fmt::format("{} (d = {}), {}", set.plan.data, set.features, compared.text);
    if (set.plan.paper == PaperSet::mimic) {
      large.push_back({opposite(compared.lower), text});
    } else {
      small.push_back({compared.lower, text});
    }
  }
  out.findings.push_back(make_finding("Where features are few (iris, adult) AVA is slightly less complex", small));
  out.findings.push_back(make_finding("On the clinical data AVA is more complex than SHAP", large));
}

}  // namespace

Reproduction reproduce_ava(const ReproduceOptions& options, const Context& context) {
  Reproduction out;
  out.name = "ava";
  out.title = "Table 4: SHAP and AVA";
  out.protocol = shared_protocol(options);
  out.protocol.emplace_back(
      "AVA: the inverse-distance weighted mean of SHAP at the k = 10 nearest rows of the pool, each explained for the "
      "row's own target (class=query); the paper states neither. Pool rows are explained by AVA as well where they are "
      "neighbours, and no row is its own antecedent. Explanations are made against the training average.");
  out.protocol.emplace_back(
      "Sensitivity as in Table 3: l2 between explanations of unit norm, training rows of the same predicted class, "
      "l-infinity in standardised columns, with D and with D / rho; radii as in the paper (adult 1, iris 0.3, "
      "MIMIC-III 10), and beside them the radius that gives the median row ten neighbours (r = auto), at which "
      "findings are read where the paper's covers less than half of the rows.");
  out.protocol.emplace_back(
      "What the paper prints after +- is taken for the standard deviation over rows: ours is the number called "
      "deviation over rows, while deviations and intervals beside each number are over runs.");
  const std::vector<SetResults> sets = run_benches(options, context, "Table 4: runs", out, measure_ava);
  judge_ava(sets, out);
  if (options.quick) withhold_findings(out.findings);
  return out;
}

}  // namespace assay

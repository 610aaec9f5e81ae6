// Table 3 of the paper: maximum and average sensitivity of six explanation functions in data neighbourhoods.
//
//   D(g(x), g(z)) over training rows z of x's predicted class with 0 < rho(x, z) <= r.
// D is the l2 distance of explanations of unit norm, rho the l-infinity distance in standardised columns. Both D and
// D / rho are measured: the paper says that it uses D / rho, but the sizes of its numbers suggest D. A row without
// neighbours has no score; coverage is the share of rows with a score. If the paper's radius leaves more than half of
// the rows without neighbours, findings are judged at the radius that gives the median row ten (radius=auto).
//
// Cost: for each method, the explanations of all pool rows that are neighbours; then a few ns for each pair.
// Deviation from the paper: it states neither the scale of its radii nor the baseline of explanations. Ours are
// standardised columns and the training average.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assay/core/table_text.h"
#include "assay/study/reproduce/paper_radii.h"
#include "assay/study/reproduce/protocol.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

// Cells are [PaperSet][maximum, average], in thousandths, as the paper prints them.
struct PaperRow {
  std::string_view method;
  std::array<std::array<double, 2>, 3> cells;
};
constexpr std::array<PaperRow, 6> kPaper = {{{"SHAP", {{{60, 54}, {310, 287}, {6, 5}}}},
                                             {"SS", {{{191, 168}, {477, 345}, {83, 81}}}},
                                             {"Grad", {{{60, 50}, {68, 66}, {28, 28}}}},
                                             {"G*I", {{{86, 71}, {298, 279}, {77, 50}}}},
                                             {"IG", {{{19, 17}, {495, 462}, {19, 15}}}},
                                             {"DL", {{{74, 74}, {850, 820}, {135, 111}}}}}};
constexpr std::array<double, 3> kTable3Radii = {2, 0.2, 4};  // by PaperSet
constexpr std::array<std::string_view, 2> kKinds = {"max", "avg"};
// Sensitivity is measured at these multiples of the automatic radius, where nearly all rows have neighbours.
constexpr std::array<double, 3> kMultiples = {1, 2, 4};
constexpr std::string_view kFallen = "rows whose maximum falls";

double paper_value(std::string_view method, PaperSet set, size_t kind) {
  const auto row = std::ranges::find(kPaper, method, &PaperRow::method);
  return row->cells[static_cast<size_t>(set)][kind] / 1000;
}

double table_3_radius(PaperSet set) { return kTable3Radii[static_cast<size_t>(set)]; }

std::string multiple_words(double multiple) { return fmt::format("{} x auto", multiple); }

// How many rows have a smaller maximum in the wider neighbourhood than in the narrower one. Must be 0.
double fallen_rows(const Scores& narrow, const Scores& wide) {
  size_t fallen = 0;
  for (size_t r = 0; r < narrow.values.size(); r++) fallen += wide.values[r] < narrow.values[r] ? 1 : 0;
  return static_cast<double>(fallen);
}

void measure_method(const PaperMethod& method, const EvaluateTask& task, double automatic, SetResults& set,
                    const Context& context) {
  const PaperSet paper = set.plan.paper;
  for (const bool divided : {false, true}) {
    for (size_t k = 0; k < kKinds.size(); k++) {
      const auto add = [&](const std::string& radius, const Scores& found, double said, bool printed) {
        set.table.add({method.name, sensitivity_column(kKinds[k], radius, divided), said, NAN, printed}, found.mean,
                      found.coverage);
      };
      context.check_cancelled();
      add(radius_words(table_3_radius(paper)),
          sensitivity_scores(task, kKinds[k], table_3_radius(paper), divided, context),
          paper_value(method.name, paper, k), true);
      Scores before;
      for (const double multiple : kMultiples) {
        const Scores found = sensitivity_scores(task, kKinds[k], multiple * automatic, divided, context);
        add(multiple_words(multiple), found, NAN, false);
        if (multiple == 1) add(std::string(kAutomaticRadius), found, NAN, true);
        if (k == 0 && !divided && multiple != 1) {
          set.table.add({method.name, fmt::format("{} {}", kFallen, multiple), NAN, NAN, false},
                        fallen_rows(before, found));
        }
        before = found;
      }
    }
  }
}

void measure_sensitivity(const Bench& bench, SetResults& set, const Context& context) {
  double automatic = NAN;
  for (const PaperMethod& method : paper_methods()) {
    const Subject subject = bench.against(bench.mean);
    const Explanations made = explain(method.spec, subject, context);
    PoolExplanations of_pool = pool_explanations_by(subject, method.spec, bench.seed);
    const EvaluateTask task{.explanations = made, .subject = subject, .pool_explanations = &of_pool};
    if (std::isnan(automatic)) {
      automatic = automatic_radius(task, context);
      set.table.add({"neighbourhoods", "radius found by r = auto"}, automatic);
    }
    measure_method(method, task, automatic, set, context);
  }
}

std::vector<double> group_mean(const SetResults& set, std::span<const std::string_view> methods,
                               const std::string& column) {
  std::vector<std::span<const double>> series;
  for (const std::string_view method : methods) series.push_back(set.table.values(method, column));
  return mean_of_series(series);
}

constexpr std::array<std::string_view, 6> kAll = {"SHAP", "SS", "Grad", "G*I", "IG", "DL"};
constexpr std::span<const std::string_view> kPerturbation = std::span(kAll).first(2);
constexpr std::span<const std::string_view> kGradient = std::span(kAll).last(4);

Evidence falls_with_radius(const SetResults& set, std::string_view kind, bool divided) {
  std::vector<Support> parts;
  std::string text = fmt::format("{}, mean over methods", set.plan.data);
  std::vector<double> before;
  for (const double multiple : kMultiples) {
    const std::vector<double> now = group_mean(set, kAll, sensitivity_column(kind, multiple_words(multiple), divided));
    if (!before.empty()) parts.push_back(compare_runs(before, now).above);
    text += fmt::format(", {} at {}", short_number(summarise_runs(now).mean), multiple_words(multiple));
    before = now;
  }
  return {all_of_them(parts), std::move(text)};
}

// Evidence that SHAP is below every other method, in both maximum and average sensitivity.
Evidence shap_least(const SetResults& set, bool divided) {
  std::vector<Support> parts;
  const std::string radius = judged_radius(set.table, "SHAP", table_3_radius(set.plan.paper));
  std::string text = fmt::format("{}, {}", set.plan.data, radius);
  for (const std::string_view kind : kKinds) {
    const std::string column = sensitivity_column(kind, radius, divided);
    const std::span<const double> shap = set.table.values("SHAP", column);
    std::string_view least;
    PairedRuns nearest;
    for (const std::string_view method : std::span(kAll).subspan(1)) {
      const PairedRuns compared = compare_runs(set.table.values(method, column), shap);
      parts.push_back(compared.above);
      if (least.empty() || more_against(compared, nearest)) {
        least = method;
        nearest = compared;
      }
    }
    text += fmt::format(
        ", {}: SHAP {}, nearest or below it {} {}, difference {}", kind, short_number(summarise_runs(shap).mean), least,
        short_number(summarise_runs(set.table.values(least, column)).mean), summary_text(nearest.difference));
  }
  return {all_of_them(parts), std::move(text)};
}

Evidence perturbation_below(const SetResults& set, bool divided) {
  std::vector<Support> parts;
  const std::string radius = judged_radius(set.table, "SHAP", table_3_radius(set.plan.paper));
  std::string text = fmt::format("{}, {}", set.plan.data, radius);
  for (const std::string_view kind : kKinds) {
    const std::string column = sensitivity_column(kind, radius, divided);
    const std::vector<double> perturbation = group_mean(set, kPerturbation, column);
    const std::vector<double> gradient = group_mean(set, kGradient, column);
    const PairedRuns compared = compare_runs(perturbation, gradient);
    parts.push_back(opposite(compared.above));
    text += fmt::format(", {}: {} against {}, difference {}", kind, short_number(summarise_runs(perturbation).mean),
                        short_number(summarise_runs(gradient).mean), summary_text(compared.difference));
  }
  return {all_of_them(parts), std::move(text)};
}

std::string fallen_words(const std::vector<SetResults>& sets) {
  double fallen = 0;
  for (const SetResults& set : sets) {
    for (const std::string_view method : kAll) {
      for (const double multiple : kMultiples) {
        for (const double count : set.table.values(method, fmt::format("{} {}", kFallen, multiple))) fallen += count;
      }
    }
  }
  return fmt::format(
      " On a fixed row it is impossible: the wider neighbourhood holds the narrower one, so its maximum is no smaller, "
      "and it was smaller in {} comparisons of a row. The mean over rows can fall only because other rows get "
      "neighbours.",
      fallen);
}

template <class Test>
std::vector<Evidence> on_each(const std::vector<SetResults>& sets, bool clinical_alone, const Test& test) {
  std::vector<Evidence> evidence;
  for (const SetResults& set : sets) {
    if (!clinical_alone || set.plan.paper == PaperSet::mimic) evidence.push_back(test(set));
  }
  return evidence;
}

void judge_sensitivity(const std::vector<SetResults>& sets, Reproduction& out) {
  for (const bool divided : {false, true}) {
    const std::string_view of = divided ? "of D / rho" : "of D";
    for (const std::string_view kind : {"avg", "max"}) {
      const auto falls = [&](const SetResults& set) { return falls_with_radius(set, kind, divided); };
      Finding finding = make_finding(
          fmt::format("{} sensitivity {} falls as the radius grows", kind == "max" ? "Maximum" : "Average", of),
          on_each(sets, false, falls));
      if (kind == "max" && !divided) finding.evidence += fallen_words(sets);
      out.findings.push_back(std::move(finding));
    }
    const auto least = [&](const SetResults& set) { return shap_least(set, divided); };
    out.findings.push_back(
        make_finding(fmt::format("On the clinical data SHAP is the least sensitive, by maximum and average {}", of),
                     on_each(sets, true, least)));
    const auto below = [&](const SetResults& set) { return perturbation_below(set, divided); };
    out.findings.push_back(make_finding(
        fmt::format("Perturbation methods (mean of SHAP, SS) are less sensitive than gradient ones (mean of Grad, G*I, "
                    "IG, DL), by maximum and average {}",
                    of),
        on_each(sets, false, below)));
  }
}

}  // namespace

Reproduction reproduce_sensitivity(const ReproduceOptions& options, const Context& context) {
  Reproduction out;
  out.name = "sensitivity";
  out.title = "Table 3: maximum and average sensitivity";
  out.protocol = shared_protocol(options);
  out.protocol.emplace_back(
      "Sensitivity is the maximum, or the mean, of the l2 distance D between explanations of unit norm, over training "
      "rows of the same predicted class within r of the row (l-infinity, standardised columns). The paper's radii: "
      "adult 2, iris 0.2, MIMIC-III 4; it does not state their scale. Its values are divided by 1,000 and stand beside "
      "both weightings: it says that it divides D by rho, and its numbers look as if it did not.");
  out.protocol.emplace_back(
      "A row without such neighbours has no score; coverage is the share of rows with one. r = auto is the radius that "
      "gives the median row ten neighbours, found in each run; findings are read there where the paper's radius covers "
      "less than half of the rows. Explanations are made against the training average.");
  const std::vector<SetResults> sets = run_benches(options, context, "Table 3: runs", out, measure_sensitivity);
  judge_sensitivity(sets, out);
  if (options.quick) withhold_findings(out.findings);
  return out;
}

}  // namespace assay

#include "assay/study/reproduce/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assay/core/table_text.h"

namespace assay {

RunSummary summarise_runs(std::span<const double> values) {
  RunningMoments moments;
  for (const double value : values) {
    if (!std::isnan(value)) moments.add(value);
  }
  RunSummary summary{moments.count(), moments.mean(), moments.standard_deviation()};
  if (moments.count() > 1) {
    const double reach = student_t_quantile(0.975, static_cast<double>(moments.count() - 1)) * moments.standard_error();
    summary.interval = {summary.mean - reach, summary.mean + reach};
  }
  return summary;
}

PairedRuns compare_runs(std::span<const double> first, std::span<const double> second) {
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(first.size(), second.size()); i++) differences.push_back(first[i] - second[i]);
  PairedRuns compared{summarise_runs(differences)};
  if (compared.difference.interval.low > 0) compared.above = Support::supported;
  if (compared.difference.interval.high < 0) compared.above = Support::contradicted;
  return compared;
}

bool more_against(const PairedRuns& a, const PairedRuns& b) {
  const bool contradicts = a.above == Support::contradicted;
  if (contradicts != (b.above == Support::contradicted)) return contradicts;
  return a.difference.mean < b.difference.mean;
}

Support opposite(Support support) {
  if (support == Support::unclear) return support;
  return support == Support::supported ? Support::contradicted : Support::supported;
}

Support all_of_them(std::span<const Support> parts) {
  if (std::ranges::find(parts, Support::contradicted) != parts.end()) return Support::contradicted;
  if (parts.empty() || std::ranges::find(parts, Support::unclear) != parts.end()) return Support::unclear;
  return Support::supported;
}

std::vector<double> mean_of_series(std::span<const std::span<const double>> series) {
  if (series.empty()) return {};
  std::vector<double> means(series[0].size(), 0);
  for (size_t run = 0; run < means.size(); run++) {
    for (const std::span<const double> each : series) means[run] += run < each.size() ? each[run] : NAN;
    means[run] /= static_cast<double>(series.size());
  }
  return means;
}

Support rises_then_stays(std::span<const std::vector<double>> points) {
  if (points.size() < 2) return Support::unclear;
  const Support first = compare_runs(points[1], points[0]).above;
  if (first != Support::supported) return first;
  bool fell = false;
  for (size_t i = 2; i < points.size(); i++) {
    const Support step = compare_runs(points[i], points[i - 1]).above;
    if (fell && step == Support::supported) return Support::contradicted;
    fell = fell || step == Support::contradicted;
  }
  return Support::supported;
}

std::string_view support_word(Support support) {
  if (support == Support::unclear) return "is not clear";
  return support == Support::supported ? "holds" : "does not hold";
}

std::string summary_text(const RunSummary& summary) {
  if (std::isnan(summary.interval.low)) return short_number(summary.mean);
  return fmt::format("{} ({} to {})", short_number(summary.mean), short_number(summary.interval.low),
                     short_number(summary.interval.high));
}

Finding make_finding(std::string claim, std::span<const Evidence> evidence) {
  Finding made{std::move(claim), FindingStatus::cannot_be_tested, "None of the data sets that it is about is here."};
  if (!made.claim.ends_with('.')) made.claim += '.';
  if (evidence.empty()) return made;
  const auto holding = static_cast<size_t>(std::ranges::count(evidence, Support::supported, &Evidence::support));
  made.status = holding == evidence.size() ? FindingStatus::replicates : FindingStatus::does_not_replicate;
  made.evidence.clear();
  if (evidence.size() > 1) made.evidence = fmt::format("Holds in {} of {} cases. ", holding, evidence.size());
  for (size_t i = 0; i < evidence.size(); i++) {
    made.evidence += fmt::format("{}{}: {}", i == 0 ? "" : "; ", evidence[i].text, support_word(evidence[i].support));
  }
  made.evidence += '.';
  return made;
}

void withhold_findings(std::vector<Finding>& findings) {
  for (Finding& each : findings) {
    each.status = FindingStatus::cannot_be_tested;
    each.evidence = fmt::format("The quick form has too few runs to tell. {}", each.evidence);
  }
}

void RunTable::add(const Cell& cell, double value, double coverage) {
  auto at = std::ranges::find_if(
      cells_, [&](const Kept& kept) { return kept.cell.row == cell.row && kept.cell.column == cell.column; });
  if (at == cells_.end()) at = cells_.insert(cells_.end(), Kept{cell});
  at->values.push_back(value);
  at->coverages.push_back(coverage);
}

const RunTable::Kept* RunTable::find(std::string_view row, std::string_view column) const {
  const auto at = std::ranges::find_if(
      cells_, [&](const Kept& kept) { return kept.cell.row == row && kept.cell.column == column; });
  return at == cells_.end() ? nullptr : &*at;
}

std::span<const double> RunTable::values(std::string_view row, std::string_view column) const {
  const Kept* kept = find(row, column);
  return kept == nullptr ? std::span<const double>() : std::span<const double>(kept->values);
}

double RunTable::coverage(std::string_view row, std::string_view column) const {
  const Kept* kept = find(row, column);
  return kept == nullptr ? NAN : summarise_runs(kept->coverages).mean;
}

void RunTable::append_to(const std::string& data, std::vector<Replication>& out) const {
  for (const Kept& kept : cells_) {
    if (!kept.cell.printed) continue;
    const RunSummary summary = summarise_runs(kept.values);
    out.push_back({.data = data,
                   .row = kept.cell.row,
                   .column = kept.cell.column,
                   .paper = kept.cell.paper,
                   .paper_spread = kept.cell.paper_spread,
                   .ours = summary.mean,
                   .deviation = summary.deviation,
                   .interval = summary.interval,
                   .runs = summary.runs,
                   .coverage = summarise_runs(kept.coverages).mean});
  }
}

}  // namespace assay

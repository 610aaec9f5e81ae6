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

Interval resplit_interval(std::span<const double> values, double share) {
  const RunSummary plain = summarise_runs(values);
  const auto runs = static_cast<double>(plain.runs);
  const double reach = plain.reach() * std::sqrt(1 + share * runs);
  return {std::max(0.0, plain.mean - reach), std::min(1.0, plain.mean + reach)};
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
  const auto order = [](Support support) {
    if (support == Support::contradicted) return 0;
    return support == Support::unclear ? 1 : 2;
  };
  if (a.above != b.above) return order(a.above) < order(b.above);
  const auto relative = [](const RunSummary& s) { return s.reach() > 0 ? s.mean / s.reach() : s.mean; };
  return relative(a.difference) < relative(b.difference);
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

std::string summary_text(const RunSummary& summary) {
  if (std::isnan(summary.interval.low)) return short_number(summary.mean);
  return fmt::format("{} ({} to {})", short_number(summary.mean), short_number(summary.interval.low),
                     short_number(summary.interval.high));
}

}  // namespace assay

#include "assay/data/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/core/statistics.h"

namespace assay {
namespace {

void summarise_numbers(const Table& table, size_t column, ColumnSummary& out) {
  std::vector<double> values;
  RunningMoments moments;
  for (size_t i = 0; i < table.rows(); ++i) {
    if (const float v = table.values(i, column); !std::isnan(v)) {
      values.push_back(v);
      moments.add(v);
    }
  }
  out.missing = table.rows() - values.size();
  if (values.empty()) return;
  out.least = std::ranges::min(values);
  out.most = std::ranges::max(values);
  out.mean = moments.mean();
  out.deviation = moments.standard_deviation();
  out.median = quantile(values, 0.5);
}

void count_levels(const Table& table, size_t column, ColumnSummary& out) {
  for (const auto& level : table.columns[column].levels) out.levels.push_back({level, 0});
  for (size_t i = 0; i < table.rows(); ++i) {
    const float code = table.values(i, column);
    if (std::isnan(code)) {
      ++out.missing;
    } else {
      ++out.levels[static_cast<size_t>(code)].count;
    }
  }
  std::ranges::stable_sort(out.levels, [](const auto& a, const auto& b) { return a.count > b.count; });
}

}  // namespace

std::vector<ColumnSummary> describe(const Table& table, const Context& context) {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  std::vector<ColumnSummary> out;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    context.check_cancelled();
    const Column& column = table.columns[j];
    ColumnSummary summary{column.name, column.kind, table.label == j, 0, column.rounded, kUndefined, kUndefined,
                          kUndefined,  kUndefined,  kUndefined,       {}};
    if (column.kind == ColumnKind::numeric) {
      summarise_numbers(table, j, summary);
    } else {
      count_levels(table, j, summary);
    }
    out.push_back(std::move(summary));
  }
  return out;
}

}  // namespace assay

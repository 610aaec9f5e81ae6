#include "assay/data/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/data/table.h"

namespace assay {
namespace {

void set_mode(const Dataset& pool, const FeatureGroup& group, std::vector<double>& row) {
  if (group.count == 1) {
    std::map<float, size_t> counts;
    for (size_t i = 0; i < pool.rows(); ++i) {
      if (const float v = pool.x(i, group.first); !std::isnan(v)) ++counts[v];
    }
    if (counts.empty()) return;
    row[group.first] = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
    return;
  }
  // One-hot: the sums of its columns are the counts of its levels.
  std::vector<double> counts(group.count, 0);
  for (size_t i = 0; i < pool.rows(); ++i) {
    for (size_t k = 0; k < group.count; ++k) {
      if (const float v = pool.x(i, group.first + k); !std::isnan(v)) counts[k] += v;
    }
  }
  const auto most = std::ranges::max_element(counts);
  if (most == counts.end() || *most <= 0) return;
  std::fill_n(row.begin() + static_cast<ptrdiff_t>(group.first), group.count, 0.0);
  row[group.first + static_cast<size_t>(most - counts.begin())] = 1;
}

// The finite numbers of a column, or (own_cells) the user's cells where the numbers only stand for them.
std::vector<double> finite_values(const Dataset& pool, size_t column, bool own_cells) {
  const auto shown = pool.shown.find(column);
  std::vector<double> values = own_cells && shown != pool.shown.end() ? shown->second : defined_values(pool.x, column);
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

template <class Centre>
std::vector<double> centre_row(const Dataset& pool, bool own_cells, const Centre& centre) {
  std::vector<double> row(pool.x.cols(), std::numeric_limits<double>::quiet_NaN());
  for (const auto& group : pool.groups) {
    if (group.kind == ColumnKind::categorical) {
      set_mode(pool, group, row);
      continue;
    }
    for (size_t k = group.first; k < group.first + group.count; ++k) row[k] = centre(finite_values(pool, k, own_cells));
  }
  return row;
}

double mean_number(const std::vector<double>& values) {
  RunningMoments moments;
  for (const double v : values) moments.add(v);
  return moments.mean();
}
double median_number(std::vector<double> values) { return quantile(values, 0.5); }

std::vector<float> as_float(const std::vector<double>& row) { return {row.begin(), row.end()}; }

}  // namespace

std::vector<float> mean_baseline(const Dataset& pool) { return as_float(centre_row(pool, false, mean_number)); }

std::vector<float> median_baseline(const Dataset& pool) { return as_float(centre_row(pool, false, median_number)); }

std::vector<double> mean_cells(const Dataset& pool) { return centre_row(pool, true, mean_number); }

std::vector<double> median_cells(const Dataset& pool) { return centre_row(pool, true, median_number); }

std::vector<float> numeric_deviations(const Dataset& pool) {
  std::vector<RunningMoments> moments(pool.x.cols());
  for (size_t i = 0; i < pool.rows(); ++i) {
    const auto row = pool.x.row(i);
    for (size_t k = 0; k < row.size(); ++k) {
      if (std::isfinite(row[k])) moments[k].add(row[k]);
    }
  }
  std::vector<float> deviations(pool.x.cols(), 0.0F);
  for (const auto& group : pool.groups) {
    if (group.kind == ColumnKind::categorical) continue;
    for (size_t k = group.first; k < group.first + group.count; ++k) {
      if (moments[k].count() > 1) deviations[k] = static_cast<float>(moments[k].standard_deviation());
    }
  }
  return deviations;
}

size_t infinite_numbers(const Dataset& pool) {
  size_t count = 0;
  for (const auto& group : pool.groups) {
    if (group.kind == ColumnKind::categorical) continue;
    for (size_t i = 0; i < pool.rows(); ++i) {
      for (size_t k = group.first; k < group.first + group.count; ++k) count += std::isinf(pool.x(i, k)) ? 1 : 0;
    }
  }
  return count;
}

std::vector<float> given_baseline(const Dataset& given, const Dataset& pool) {
  if (given.rows() != 1) fail_input(given.source, "one row, to be the baseline", fmt::format("{}", given.rows()));
  if (given.feature_names != pool.feature_names) {
    fail_input(given.source, fmt::format("a baseline with the features of {}", pool.source), "others");
  }
  return {given.x.row(0).begin(), given.x.row(0).end()};
}

size_t neutral_row(std::span<const double> confidence) {
  size_t best = confidence.size();
  for (size_t i = 0; i < confidence.size(); ++i) {
    if (std::isnan(confidence[i])) continue;
    if (best == confidence.size() || confidence[i] < confidence[best]) best = i;
  }
  if (best == confidence.size()) fail_input("neutral baseline", "a pool row with a defined prediction", "none");
  return best;
}

std::vector<size_t> background_rows(size_t pool_rows, size_t count, uint64_t seed) {
  std::vector<uint32_t> picks(std::min(pool_rows, count));
  RandomStream(seed, "background").subset(static_cast<uint32_t>(pool_rows), picks);
  return {picks.begin(), picks.end()};
}

std::vector<size_t> spread_rows(std::span<const size_t> order, size_t count, uint64_t seed) {
  if (count >= order.size()) return {order.begin(), order.end()};
  if (count == 0) return {};
  std::vector<uint32_t> longer(order.size() % count);
  RandomStream(seed, "strata of a background").subset(static_cast<uint32_t>(count), longer);
  std::vector<size_t> sizes(count, order.size() / count);
  for (const uint32_t stratum : longer) ++sizes[stratum];
  std::vector<size_t> drawn;
  size_t begin = 0;
  for (const size_t size : sizes) {
    const auto number = [&](size_t row) { return RandomStream(seed, "spread background", row).bits64(); };
    drawn.push_back(*std::ranges::min_element(order.subspan(begin, size), {}, number));
    begin += size;
  }
  return drawn;
}

}  // namespace assay

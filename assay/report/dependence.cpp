#include "assay/report/dependence.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/core/statistics.h"
#include "assay/explain/row_cells.h"
#include "assay/report/json_text.h"
#include "assay/study/cohort_parts.h"

namespace assay {
namespace {

constexpr size_t kMostFeatures = 20;
constexpr size_t kMostRowsUsed = 5000;
constexpr size_t kMostDependenceBins = 10;
constexpr size_t kRowsOfBin = 25;
constexpr size_t kLeastLevelRows = 10;
// A residual below this share of a value's mean square is rounding.
constexpr double kRoundingShare = 1e-10;
// Of the variance of a feature, what must be left within pairs of neighbours.
constexpr double kLeastOwnVariance = 0.05;
constexpr double kChance = 0.05;

using RowNumbers = std::vector<size_t>;

// The rows of each bin of the column; rows without a value are in none.
std::vector<RowNumbers> bins_of(const RowColumn& column, const RowNumbers& rows) {
  std::vector<double> known;
  for (const size_t row : rows) {
    if (std::isfinite(column.values[row])) known.push_back(column.values[row]);
  }
  const std::set<double> different(known.begin(), known.end());
  std::vector<double> cuts(different.begin(), different.end());
  if (column.kind == ColumnKind::numeric && cuts.size() > kMostDependenceBins) {
    cuts = quantile_cuts(known, std::clamp<size_t>(known.size() / kRowsOfBin, 1, kMostDependenceBins));
  }
  std::vector<RowNumbers> bins(cuts.size() + 1);
  for (const size_t row : rows) {
    const double value = column.values[row];
    if (!std::isfinite(value)) continue;
    bins[static_cast<size_t>(std::ranges::lower_bound(cuts, value) - cuts.begin())].push_back(row);
  }
  std::erase_if(bins, [](const RowNumbers& bin) { return bin.empty(); });
  return bins;
}

struct Three {
  double a, x, z;
};

// The partial correlation of a and z given x; 0 if nothing but rounding is left of one of them.
double partial_correlation(std::span<const Three> rows) {
  const auto count = static_cast<double>(rows.size());
  Three mean{0, 0, 0};
  for (const Three& row : rows) {
    mean.a += row.a / count;
    mean.x += row.x / count;
    mean.z += row.z / count;
  }
  double aa = 0, xx = 0, zz = 0, ax = 0, az = 0, xz = 0;
  double size_a = 0, size_z = 0;
  for (const Three& row : rows) {
    const Three off{row.a - mean.a, row.x - mean.x, row.z - mean.z};
    aa += off.a * off.a;
    xx += off.x * off.x;
    zz += off.z * off.z;
    ax += off.a * off.x;
    az += off.a * off.z;
    xz += off.x * off.z;
    size_a += row.a * row.a;
    size_z += row.z * row.z;
  }
  if (xx > 0) {
    aa -= ax * ax / xx;
    zz -= xz * xz / xx;
    az -= ax * xz / xx;
  }
  if (!(aa > kRoundingShare * size_a) || !(zz > kRoundingShare * size_z)) return 0;
  return std::clamp(az / std::sqrt(aa * zz), -1.0, 1.0);
}

// value_of(row): of the other feature; NaN where it has none.
double strength_of(const std::vector<RowNumbers>& bins, const Matrix& values, size_t player, const RowColumn& own,
                   const auto& value_of) {
  double sum = 0;
  double count = 0;
  std::vector<Three> rows;
  for (const RowNumbers& bin : bins) {
    rows.clear();
    for (const size_t row : bin) {
      const Three each{values(row, player), own.kind == ColumnKind::numeric ? own.values[row] : 0, value_of(row)};
      if (std::isfinite(each.a) && std::isfinite(each.z)) rows.push_back(each);
    }
    if (rows.size() < kLeastLevelRows) continue;
    const auto weight = static_cast<double>(rows.size());
    sum += weight * std::fabs(partial_correlation(rows));
    count += weight;
  }
  return count > 0 ? sum / count : 0;
}

// What straight lines through 0 in x leave of a and z.
void take_out_lines(std::span<Three> pairs) {
  double xx = 0, ax = 0, xz = 0;
  for (const Three& pair : pairs) {
    xx += pair.x * pair.x;
    ax += pair.a * pair.x;
    xz += pair.x * pair.z;
  }
  if (!(xx > 0)) return;
  for (Three& pair : pairs) {
    pair.a -= ax / xx * pair.x;
    pair.z -= xz / xx * pair.x;
  }
}

// A bound of the probability of such a relation if the attribution depends on the own value alone (dependence.h); 1 if
// the other feature is nearly a function of this one. ordered: bins, each in the order of the own value.
double chance_of(const std::vector<RowNumbers>& ordered, const Matrix& values, size_t player, const RowColumn& own,
                 const auto& value_of) {
  double sum = 0;
  double bins = 0;
  double left = 0;
  RunningMoments others;
  std::vector<Three> pairs;
  for (const RowNumbers& bin : ordered) {
    pairs.clear();
    std::optional<Three> first;
    for (const size_t row : bin) {
      const Three each{values(row, player), own.kind == ColumnKind::numeric ? own.values[row] : 0, value_of(row)};
      if (!std::isfinite(each.a) || !std::isfinite(each.z)) continue;
      others.add(each.z);
      if (first) pairs.push_back({each.a - first->a, each.x - first->x, each.z - first->z});
      first = first ? std::nullopt : std::optional(each);
    }
    if (2 * pairs.size() < kLeastLevelRows) continue;
    take_out_lines(pairs);
    double signed_roots = 0;
    double sizes = 0;
    for (const Three& pair : pairs) {
      const double product = pair.a * pair.z;
      signed_roots += std::copysign(std::sqrt(std::fabs(product)), product);
      sizes += std::fabs(product);
      left += pair.z * pair.z / 2;
    }
    if (sizes > 0) sum += signed_roots * signed_roots / sizes;
    bins += 1;
  }
  const double rows = static_cast<double>(others.count());
  if (!(sum > bins) || left < kLeastOwnVariance * others.variance() * rows / 2) return 1;
  return std::exp(-(sum - bins - bins * std::log(sum / bins)) / 2);
}

RowNumbers used_rows(size_t count) {
  const size_t step = (count + kMostRowsUsed - 1) / kMostRowsUsed;
  RowNumbers rows;
  for (size_t row = 0; row < count; row += step) rows.push_back(row);
  return rows;
}

std::string kind_word(const std::optional<RowColumn>& column) {
  if (!column) return "group";
  return column->kind == ColumnKind::numeric ? "number" : "category";
}

}  // namespace

Dependence dependence_of(size_t player, const Matrix& values, std::span<const std::optional<RowColumn>> columns,
                         size_t family) {
  Dependence made{.player = player};
  if (!columns[player]) return made;
  const RowColumn& own = *columns[player];
  const RowNumbers rows = used_rows(values.rows());
  const std::vector<RowNumbers> bins = bins_of(own, rows);
  std::vector<RowNumbers> ordered = bins;
  for (RowNumbers& bin : ordered) {
    std::ranges::stable_sort(bin, {}, [&](size_t row) { return own.values[row]; });
  }
  struct Tried {
    size_t other;
    double strength;
    double chance;
  };
  std::vector<Tried> tried;
  const auto consider = [&](size_t other, const auto& value_of) {
    tried.push_back(
        {other, strength_of(bins, values, player, own, value_of), chance_of(ordered, values, player, own, value_of)});
  };
  for (size_t other = 0; other < columns.size(); other++) {
    if (other == player || !columns[other]) continue;
    const RowColumn& column = *columns[other];
    if (column.kind == ColumnKind::numeric) {
      consider(other, [&](size_t row) { return column.values[row]; });
      continue;
    }
    std::vector<size_t> of_level(column.levels.size(), 0);
    for (const size_t row : rows) {
      if (std::isfinite(column.values[row])) of_level[static_cast<size_t>(column.values[row])]++;
    }
    for (size_t level = 0; level < of_level.size(); level++) {
      if (of_level[level] < kLeastLevelRows || rows.size() - of_level[level] < kLeastLevelRows) continue;
      const auto which = static_cast<double>(level);
      consider(other, [&](size_t row) { return column.values[row] == which ? 1.0 : 0.0; });
    }
  }
  const double trials = static_cast<double>(tried.size() * std::max<size_t>(family, 1));
  for (const Tried& each : tried) {
    if (each.strength <= made.strength || each.chance * trials > kChance) continue;
    made.strength = each.strength;
    made.partner = each.other;
  }
  return made;
}

std::string dependence_json(const Study& study, const Advice& advice, const Subject& subject) {
  std::vector<std::string> parts;
  if (!advice.overall || !subject.rows->item_shape.empty()) return json_list(parts);
  const Matrix& values = study.entries[advice.overall->entry].explanations.values;
  const RowCells cells(*subject.rows, *subject.players);
  std::vector<std::optional<RowColumn>> columns;
  for (size_t p = 0; p < values.cols(); p++) columns.push_back(cells.column(p, study.facts.features[p]));
  const size_t shown = std::min(kMostFeatures, advice.drivers.size());
  for (size_t d = 0; d < shown; d++) {
    const size_t player = advice.drivers[d].player;
    const Dependence found = dependence_of(player, values, columns, shown);
    parts.push_back(json_object({{"feature", std::to_string(player)},
                                 {"kind", json_text(kind_word(columns[player]))},
                                 {"partner", found.partner ? std::to_string(*found.partner) : "null"},
                                 {"strength", json_number(found.strength)}}));
  }
  return json_list(parts);
}

}  // namespace assay

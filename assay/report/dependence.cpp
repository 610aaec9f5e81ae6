#include "assay/report/dependence.h"

#include <algorithm>
#include <cmath>
#include <set>

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

Dependence dependence_of(size_t player, const Matrix& values, std::span<const std::optional<RowColumn>> columns) {
  Dependence made{.player = player};
  if (!columns[player]) return made;
  const RowColumn& own = *columns[player];
  const RowNumbers rows = used_rows(values.rows());
  const std::vector<RowNumbers> bins = bins_of(own, rows);
  const auto consider = [&](size_t other, const auto& value_of) {
    const double strength = strength_of(bins, values, player, own, value_of);
    if (strength <= made.strength) return;
    made.strength = strength;
    made.partner = other;
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
  return made;
}

std::string dependence_json(const Study& study, const Advice& advice, const Subject& subject) {
  std::vector<std::string> parts;
  if (!advice.overall || !subject.rows->item_shape.empty()) return json_list(parts);
  const Matrix& values = study.entries[advice.overall->entry].explanations.values;
  const RowCells cells(*subject.rows, *subject.players);
  std::vector<std::optional<RowColumn>> columns;
  for (size_t p = 0; p < values.cols(); p++) columns.push_back(cells.column(p, study.facts.features[p]));
  for (size_t d = 0; d < std::min(kMostFeatures, advice.drivers.size()); d++) {
    const size_t player = advice.drivers[d].player;
    const Dependence found = dependence_of(player, values, columns);
    parts.push_back(json_object({{"feature", std::to_string(player)},
                                 {"kind", json_text(kind_word(columns[player]))},
                                 {"partner", found.partner ? std::to_string(*found.partner) : "null"},
                                 {"strength", json_number(found.strength)}}));
  }
  return json_list(parts);
}

}  // namespace assay

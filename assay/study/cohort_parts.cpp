#include "assay/study/cohort_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "assay/core/table_text.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

std::string cell_text(double value) {
  const auto narrow = static_cast<float>(value);
  return static_cast<double>(narrow) == value ? number_text(narrow) : fmt::format("{}", value);
}

// A name that no part has yet: a level may be called like what we call a part.
std::string new_name(const std::vector<std::string>& names, std::string name) {
  while (std::ranges::find(names, name) != names.end()) name = fmt::format("({})", name);
  return name;
}

// The different numbers, ascending; at most `most`.
std::vector<double> different_numbers(const std::vector<double>& numbers, size_t most) {
  std::vector<double> found;
  for (const double number : numbers) {
    if (std::isnan(number) || std::ranges::find(found, number) != found.end()) continue;
    found.push_back(number);
    if (found.size() == most) break;
  }
  std::ranges::sort(found);
  return found;
}

// place[row]: the level of each row, levels.size() where it is missing.
ColumnParts parts_of_levels(const std::vector<std::string>& levels, const std::vector<size_t>& place) {
  std::vector<size_t> rows(levels.size() + 1, 0);
  for (const size_t each : place) rows[each]++;
  std::vector<size_t> kept;
  for (size_t level = 0; level < levels.size(); level++) {
    if (rows[level] > 0) kept.push_back(level);
  }
  const size_t found = kept.size();
  if (found > kMostCohortLevels) {
    std::ranges::stable_sort(kept, [&](size_t a, size_t b) { return rows[a] > rows[b]; });
    kept.resize(kMostCohortLevels - 1);
    std::ranges::sort(kept);
  }
  ColumnParts made;
  const size_t others = kept.size();
  std::vector<size_t> part_of(levels.size() + 1, others);
  for (size_t i = 0; i < kept.size(); i++) {
    part_of[kept[i]] = i;
    made.names.push_back(levels[kept[i]]);
  }
  if (kept.size() < found) {
    made.names.push_back(new_name(made.names, fmt::format("{} other levels", with_commas(found - kept.size()))));
  }
  if (rows.back() > 0) {
    part_of.back() = made.names.size();
    made.names.push_back(new_name(made.names, "missing"));
  }
  for (const size_t each : place) made.of_row.push_back(static_cast<uint32_t>(part_of[each]));
  return made;
}

ColumnParts parts_of_quantiles(const std::vector<double>& numbers) {
  const std::vector<double> cuts = quantile_cuts(numbers, kCohortQuantiles);
  ColumnParts made{.cut = CohortCut::quantiles};
  for (size_t i = 0; i <= cuts.size(); i++) {
    const std::string above = i > 0 ? fmt::format("above {}", cell_text(cuts[i - 1])) : "";
    const std::string up_to = i < cuts.size() ? fmt::format("up to {}", cell_text(cuts[i])) : "";
    made.names.push_back(fmt::format("{}{}{}", above, above.empty() || up_to.empty() ? "" : ", ", up_to));
  }
  const size_t missing = made.names.size();
  for (const double number : numbers) {
    const bool known = !std::isnan(number);
    const auto part = known ? std::ranges::lower_bound(cuts, number) - cuts.begin() : std::ptrdiff_t(missing);
    made.of_row.push_back(static_cast<uint32_t>(part));
    if (!known && made.names.size() == missing) made.names.emplace_back("missing");
  }
  return made;
}

}  // namespace

std::string_view cohort_cut_name(CohortCut cut) {
  switch (cut) {
    case CohortCut::prediction: return "prediction";
    case CohortCut::quantiles: return "quantiles";
    case CohortCut::levels: break;
  }
  return "levels";
}

std::vector<double> quantile_cuts(std::vector<double> numbers, size_t parts) {
  std::erase_if(numbers, [](double number) { return std::isnan(number); });
  if (numbers.empty()) return {};
  std::ranges::sort(numbers);
  const double largest = numbers.back();
  const auto below = std::ranges::lower_bound(numbers, largest);
  if (below == numbers.begin()) return {};  // all the same
  std::vector<double> cuts;
  for (size_t part = 1; part < parts; part++) {
    const size_t at = (numbers.size() * part + parts - 1) / parts;
    const double cut = std::min(numbers[std::max<size_t>(at, 1) - 1], *(below - 1));
    if (cuts.empty() || cut > cuts.back()) cuts.push_back(cut);
  }
  return cuts;
}

ColumnParts column_parts(const RowColumn& column) {
  std::vector<std::string> levels = column.levels;
  std::vector<double> known;
  if (column.kind == ColumnKind::numeric) {
    known = different_numbers(column.values, kCohortQuantiles + 1);
    if (known.size() > kCohortQuantiles) return parts_of_quantiles(column.values);
    levels.clear();
    for (const double number : known) levels.push_back(cell_text(number));
  }
  std::vector<size_t> place;
  for (const double value : column.values) {
    if (std::isnan(value)) {
      place.push_back(levels.size());
    } else if (column.kind == ColumnKind::numeric) {
      place.push_back(static_cast<size_t>(std::ranges::lower_bound(known, value) - known.begin()));
    } else {
      place.push_back(static_cast<size_t>(value));
    }
  }
  return parts_of_levels(levels, place);
}

}  // namespace assay

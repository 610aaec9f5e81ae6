#include "cli/cohort_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay::cli {
namespace {

constexpr size_t kMostNamesListed = 40;

bool is_cohort_word(const std::string& name) { return name == kPredictionCohorts || name == kLabelCohorts; }

}  // namespace

void check_cohort_names(const std::vector<std::string>& names, const Table& table) {
  const std::vector<std::string> columns = column_names(table);
  for (const std::string& name : names) {
    if (is_cohort_word(name) || std::ranges::find(columns, name) != columns.end()) continue;
    std::vector<std::string> listed;
    for (const std::string& column : columns) {
      if (listed.size() == kMostNamesListed) break;
      listed.push_back(one_line(column));
    }
    if (listed.size() < columns.size()) listed.push_back(fmt::format("{} more", columns.size() - listed.size()));
    std::vector<std::string> known = columns;
    known.insert(known.end(), {std::string(kPredictionCohorts), std::string(kLabelCohorts)});
    fail_input("--cohort",
               fmt::format("a column of {} ({}), {} or {}", one_line(table.source), joined(listed), kPredictionCohorts,
                           kLabelCohorts),
               fmt::format("{}{}", in_quotes(name), suggestion(name, known)));
  }
}

CohortWish cohort_wish(const std::vector<std::string>& names, const TableCells& rows) {
  CohortWish wish{.named = !names.empty()};
  const std::vector<std::string> columns = column_names(*rows.table);
  for (size_t i = 0; i < names.size(); i++) {
    const std::span<const std::string> before = std::span(names).first(i);
    if (std::ranges::find(before, names[i]) != before.end()) continue;
    const auto found = std::ranges::find(columns, names[i]);
    if (found != columns.end()) {
      const auto column = static_cast<size_t>(found - columns.begin());
      // The label by its own name is the label: its groups are not tested twice.
      if (rows.table->label == column) {
        wish.label = true;
      } else {
        wish.columns.push_back(row_column(*rows.table, rows.doubles, column));
      }
    } else {
      (names[i] == kPredictionCohorts ? wish.prediction : wish.label) = true;
    }
  }
  return wish;
}

}  // namespace assay::cli

#include "assay/data/known_levels.h"

#include <fmt/format.h>

#include "assay/core/error.h"
#include "assay/data/io/number.h"

namespace assay {

KnownLevels::KnownLevels(const std::vector<std::string>& levels) {
  for (size_t i = 0; i < levels.size(); i++) {
    positions_.emplace(levels[i], i);
    const auto number = parse_number(levels[i]);
    const bool shortest = number && number_text(number->value) == levels[i];
    all_numbers_ = all_numbers_ && shortest;
    if (number && !shortest) respelt_ = levels[i];
    const std::optional<bool> truth = truth_of(levels[i]);
    all_truth_ = all_truth_ && truth;
    if (truth) truth_[*truth ? 1 : 0] = i;
  }
}

void KnownLevels::check(const Table& table, size_t column) const {
  const Column& from = table.columns[column];
  if (from.kind == ColumnKind::categorical || positions_.empty()) return;
  const std::string where = fmt::format("{}: column {}", table.source, in_quotes(from.name));
  if (from.rounded > 0) {
    fail_input(
        fmt::format("{} holds numbers beyond 2^24, which tables round, and the model knows its cells one "
                    "by one; read the column as categories, or keep it as text",
                    where));
  }
  if (!respelt_.empty()) {
    fail_input(
        fmt::format("{} was read as numbers, and the model knows the category {}, whose spelling numbers do not "
                    "keep; read the column as categories, or keep it as text",
                    where, in_quotes(respelt_)));
  }
}

std::optional<size_t> KnownLevels::find(const Column& column, float value) const {
  const std::string cell = text(column, value);
  if (const auto found = positions_.find(cell); found != positions_.end()) return found->second;
  if (all_truth_ && column.kind == ColumnKind::numeric && (value == 0 || value == 1)) return truth_[value == 0 ? 0 : 1];
  if (column.kind == ColumnKind::numeric || !all_numbers_) return {};
  const auto number = parse_number(cell);
  if (!number || number->rounded) return {};
  const auto found = positions_.find(number_text(number->value));
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

std::string KnownLevels::text(const Column& column, float value) {
  return column.kind == ColumnKind::categorical ? column.levels[static_cast<size_t>(value)] : number_text(value);
}

}  // namespace assay

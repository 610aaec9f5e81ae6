#include "cli/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/core/text.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

// Rows of a table beside the results that the terminal shows; JSON has them all.
constexpr size_t kShownTableRows = 20;

Json table_json(const ScoreTable& table) {
  Json rows = Json::array();
  for (const std::vector<double>& row : table.rows) rows.push_back(numbers(row));
  Json made = {{"name", table.name}, {"columns", table.columns}, {"rows", rows}};
  if (!table.labels.empty()) made["labels"] = table.labels;
  return made;
}

}  // namespace

std::string spec_text(const Spec& spec) {
  std::string text = spec.name;
  for (const auto& [name, value] : spec.options) text += fmt::format(":{}={}", name, value);
  return text;
}

std::string plural(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", with_commas(count), what, count == 1 ? "" : "s");
}

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return short_number(value);
}

Json number(double value) {
  if (std::isnan(value)) return {};
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json numbers(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json options_json(const std::vector<std::pair<std::string, std::string>>& options) {
  Json made = Json::object();
  for (const auto& [name, value] : options) made[name] = value;
  return made;
}

Json undefined_json(const std::vector<Undefined>& undefined) {
  Json made = Json::array();
  for (const Undefined& each : undefined) made.push_back({{"reason", each.reason}, {"rows", each.rows}});
  return made;
}

Json tables_json(const std::vector<ScoreTable>& tables) {
  Json made = Json::array();
  for (const ScoreTable& table : tables) made.push_back(table_json(table));
  return made;
}

std::string texts_json(const std::vector<std::string>& texts) { return dumped(Json(texts)); }

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void print_tables(std::string_view of, const std::vector<ScoreTable>& tables, FILE* to, bool spread) {
  for (const ScoreTable& table : tables) {
    fmt::print(to, "\n{}, {}:\n", of, one_line(table.name));
    const bool named = !table.labels.empty();
    std::vector<std::vector<std::string>> lines(1);
    if (named) lines[0].emplace_back();
    for (const std::string& column : table.columns) lines[0].push_back(short_name(column));
    const size_t shown = std::min(table.rows.size(), kShownTableRows);
    for (size_t i = 0; i < shown; i++) {
      const size_t r = spread && shown > 1 ? i * (table.rows.size() - 1) / (shown - 1) : i;
      lines.emplace_back();
      if (named) lines.back().push_back(short_name(table.labels[r]));
      for (const double value : table.rows[r]) lines.back().push_back(number_text(value));
    }
    fmt::print(to, "{}", aligned(lines, named ? std::vector<size_t>{0} : std::vector<size_t>{}));
    if (shown < table.rows.size()) {
      fmt::print(to, "... {} more{} (--json has all)\n", with_commas(table.rows.size() - shown),
                 spread ? " between these" : "");
    }
  }
}

}  // namespace assay::cli

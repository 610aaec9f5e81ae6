// assay describe NAME|FILE
#include "assay/data/describe.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "assay/core/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

constexpr size_t kShownColumns = 40;
constexpr size_t kShownLevels = 5;

struct DescribeArguments {
  TableArguments table;
  bool all = false;
};

std::string level_text(const ColumnSummary& column) {
  std::string text = fmt::format("{} {}: ", with_commas(column.levels.size()), column.is_label ? "classes" : "levels");
  for (size_t i = 0; i < column.levels.size() && i < kShownLevels; ++i) {
    if (i > 0) text += ", ";
    text += fmt::format("{} {}", one_line(column.levels[i].level), with_commas(column.levels[i].count));
  }
  return column.levels.size() > kShownLevels ? text + ", ..." : text;
}

std::string table_shape_text(const Table& table, bool assumed) {
  const size_t features = table.columns.size() - (table.label ? 1 : 0);
  std::string text = fmt::format("{}: {} rows, {} {}", one_line(table.source), with_commas(table.rows()),
                                 with_commas(features), table.label ? "attributes" : "columns");
  if (table.label) text += fmt::format(" and the label {}", one_line(table.columns[*table.label].name));
  if (assumed) text += " (taken to be the last column; --label says otherwise)";
  if (!table.id_name.empty()) text += fmt::format(", rows named by {}", one_line(table.id_name));
  if (!table.item_shape.empty()) text += fmt::format(", rows of {}", fmt::join(table.item_shape, " x "));
  return text;
}

void print_described(const Table& table, const std::vector<ColumnSummary>& columns, bool assumed, bool all) {
  fmt::print("{}\n\n", table_shape_text(table, assumed));
  std::vector<std::vector<std::string>> rows = {{"column", "kind", "missing", "min", "median", "mean", "sd", "max"}};
  std::string notes;
  for (size_t j = 0; j < columns.size() && (all || j < kShownColumns); ++j) {
    const auto& column = columns[j];
    std::vector<std::string> row = {one_line(column.name),
                                    column.is_label                      ? "label"
                                    : column.kind == ColumnKind::numeric ? "numeric"
                                                                         : "categorical",
                                    with_commas(column.missing)};
    if (column.kind == ColumnKind::numeric) {
      for (const double v : {column.least, column.median, column.mean, column.deviation, column.most}) {
        row.push_back(short_number(v));
      }
    }
    rows.push_back(std::move(row));
    if (column.kind == ColumnKind::categorical)
      notes += fmt::format("{}: {}\n", one_line(column.name), level_text(column));
    if (column.rounded > 0) {
      notes += fmt::format("{}: {} numbers beyond 2^24 are too long for float32 and were rounded\n",
                           one_line(column.name), with_commas(column.rounded));
    }
  }
  fmt::print("{}", aligned(rows, {0, 1}));
  if (!all && columns.size() > kShownColumns) {
    fmt::print("... {} more columns (--all shows them)\n", with_commas(columns.size() - kShownColumns));
  }
  if (!notes.empty()) fmt::print("\n{}", notes);
}

void print_described_json(const Table& table, const std::vector<ColumnSummary>& columns, bool assumed) {
  using nlohmann::json;
  const auto number = [](double v) { return std::isfinite(v) ? json(v) : json(); };
  auto listed = json::array();
  for (const auto& column : columns) {
    json entry = {{"name", column.name},
                  {"kind", column.kind == ColumnKind::numeric ? "numeric" : "categorical"},
                  {"missing", column.missing}};
    if (column.kind == ColumnKind::numeric) {
      entry["min"] = number(column.least);
      entry["median"] = number(column.median);
      entry["mean"] = number(column.mean);
      entry["sd"] = number(column.deviation);
      entry["max"] = number(column.most);
      entry["rounded"] = column.rounded;
    } else {
      auto levels = json::array();
      for (const auto& level : column.levels) levels.push_back({{"level", level.level}, {"count", level.count}});
      entry["levels"] = std::move(levels);
    }
    listed.push_back(std::move(entry));
  }
  const json out = {{"source", table.source},
                    {"rows", table.rows()},
                    {"attributes", table.columns.size() - (table.label ? 1 : 0)},
                    {"label", table.label ? json(table.columns[*table.label].name) : json()},
                    {"label_assumed", assumed},
                    {"id", table.id_name.empty() ? json() : json(table.id_name)},
                    {"item_shape", table.item_shape},
                    {"columns", std::move(listed)}};
  fmt::print("{}\n", out.dump(2, ' ', false, json::error_handler_t::replace));
}

void describe_table(const DescribeArguments& arguments, const Session& session) {
  Table table = arguments.table.open(session);
  // Most tables keep their label last; a guess is better than none here, as long as it is said to be one.
  const bool assumed = !table.label && table.columns.size() > 1 && table.columns.back().kind == ColumnKind::categorical;
  if (assumed) table.label = table.columns.size() - 1;
  const auto columns = describe(table, session.context);
  if (session.json) {
    print_described_json(table, columns, assumed);
  } else {
    print_described(table, columns, assumed, arguments.all);
  }
}

}  // namespace

void add_describe(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<DescribeArguments>();
  CLI::App* command = app.add_subcommand("describe", "Columns, kinds, missing values and ranges of a table");
  arguments->table.add_to(*command);
  command->add_flag("--all", arguments->all, "Show every column of a wide table");
  command->callback(
      [&session, arguments] { session.run = [&session, arguments] { describe_table(*arguments, session); }; });
}

}  // namespace assay::cli

#include "assay/explain/io/explanations_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/csv.h"
#include "assay/data/io/csv_rows.h"
#include "assay/data/table_io.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 4> kFixed = {"target", "output", "base", "gap"};
constexpr std::string_view kFeature = " (feature)";
constexpr std::string_view kId = " (id)";
constexpr std::string_view kError = " (stderr)";
constexpr std::string_view kBackgroundError = " (background stderr)";

bool is_fixed(std::string_view name) { return std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end(); }

// A name that no fixed column has, and what it stood for.
std::string told_apart(const std::string& name, std::string_view suffix) {
  return is_fixed(name) ? fmt::format("{}{}", name, suffix) : name;
}
std::string original(const std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return name;
  const std::string stem = name.substr(0, name.size() - suffix.size());
  return is_fixed(stem) ? stem : name;
}

// Whether the fixed columns stand in these names from this one on.
template <class Names>
bool fixed_from(const Names& names, size_t first) {
  if (names.size() < first + kFixed.size()) return false;
  return std::equal(kFixed.begin(), kFixed.end(), names.begin() + static_cast<ptrdiff_t>(first));
}

void require_numbers(const Table& table, size_t first) {
  for (size_t j = first; j < table.columns.size(); j++) {
    if (table.columns[j].kind == ColumnKind::numeric) continue;
    fail_input(fmt::format("{}, column {}", table.source, in_quotes(table.columns[j].name)),
               "numbers, as attributions are", "text");
  }
}

Matrix columns_between(const Table& table, size_t begin, size_t end) {
  Matrix out(table.rows(), end - begin);
  for (size_t i = 0; i < table.rows(); i++) {
    const auto row = table.values.row(i).subspan(begin, end - begin);
    std::copy(row.begin(), row.end(), out.row(i).begin());
  }
  return out;
}

std::vector<double> column(const Table& table, size_t j) {
  std::vector<double> out;
  for (size_t i = 0; i < table.rows(); i++) out.push_back(table.values(i, j));
  return out;
}

// How many of the names behind the fixed columns are features: the others repeat them, with one suffix or both.
struct Layout {
  size_t features;
  bool errors;
  bool background_errors;
};

Layout layout_of(const std::vector<std::string>& names) {
  const auto repeats = [&](size_t features, size_t part, std::string_view suffix) {
    for (size_t j = 0; j < features; j++) {
      if (names[part * features + j] != fmt::format("{}{}", names[j], suffix)) return false;
    }
    return true;
  };
  const size_t third = names.size() / 3;
  if (names.size() % 3 == 0 && third > 0 && repeats(third, 1, kError) && repeats(third, 2, kBackgroundError)) {
    return {third, true, true};
  }
  const size_t half = names.size() / 2;
  if (names.size() % 2 == 0 && half > 0 && repeats(half, 1, kError)) return {half, true, false};
  if (names.size() % 2 == 0 && half > 0 && repeats(half, 1, kBackgroundError)) return {half, false, true};
  return {names.size(), false, false};
}

void read_target_column(const Table& table, Explanations& out) {
  const Column& column = table.columns[0];
  size_t missing = 0;
  for (size_t i = 0; i < table.rows(); i++) missing += std::isnan(table.values(i, 0)) ? 1 : 0;
  if (missing == table.rows()) return;
  if (missing > 0) {
    fail_input(fmt::format("{}, column 'target'", table.source), "a target in every row",
               fmt::format("none in {} of {}", missing, table.rows()));
  }
  out.target_names = column.levels;
  for (size_t i = 0; i < table.rows(); i++) out.target.push_back(static_cast<uint32_t>(table.values(i, 0)));
}

}  // namespace

Table explanations_table(const Explanations& explanations) {
  Table table;
  const bool targets = !explanations.target.empty();
  table.columns.push_back(
      {"target", ColumnKind::categorical, targets ? explanations.target_names : std::vector<std::string>()});
  for (size_t j = 1; j < kFixed.size(); j++) table.columns.push_back({std::string(kFixed[j])});
  const auto add_columns = [&](std::string_view suffix) {
    for (const std::string& name : explanations.features) {
      table.columns.push_back({fmt::format("{}{}", told_apart(name, kFeature), suffix)});
    }
  };
  std::vector<const Matrix*> parts = {&explanations.values};
  add_columns("");
  if (!explanations.standard_error.empty()) {
    parts.push_back(&explanations.standard_error);
    add_columns(kError);
  }
  if (!explanations.background_error.empty()) {
    parts.push_back(&explanations.background_error);
    add_columns(kBackgroundError);
  }
  std::unordered_set<std::string_view> names;
  for (const Column& each : table.columns) {
    if (!names.insert(each.name).second) {
      fail_input("a table of explanations", "columns of different names (.npz and .json need none)",
                 fmt::format("{} twice", in_quotes(each.name)));
    }
  }
  table.values = Matrix(explanations.rows(), table.columns.size());
  for (size_t i = 0; i < explanations.rows(); i++) {
    const auto row = table.values.row(i);
    row[0] = targets ? static_cast<float>(explanations.target[i]) : std::numeric_limits<float>::quiet_NaN();
    row[1] = static_cast<float>(explanations.output[i]);
    row[2] = static_cast<float>(explanations.base[i]);
    row[3] = static_cast<float>(explanations.gap[i]);
    auto at = row.begin() + kFixed.size();
    for (const Matrix* part : parts) at = std::copy(part->row(i).begin(), part->row(i).end(), at);
  }
  sort_levels(table, 0);
  if (!explanations.ids.empty()) {
    table.id_name = told_apart(explanations.id_name.empty() ? "id" : explanations.id_name, kId);
    while (names.contains(table.id_name)) table.id_name += kId;
    table.ids = explanations.ids;
  }
  return table;
}

Explanations explanations_from_table(Table table, bool named) {
  const std::vector<std::string> names = column_names(table);
  const bool own = fixed_from(names, 0);
  const size_t first = own ? kFixed.size() : 0;
  require_numbers(table, own ? 1 : 0);
  const std::vector<std::string> rest(names.begin() + static_cast<ptrdiff_t>(first), names.end());
  if (rest.empty() || table.rows() == 0) fail_input(table.source, "at least one row and one feature", "none");
  Explanations out;
  const Layout layout = own ? layout_of(rest) : Layout{rest.size(), false, false};
  out.values = columns_between(table, first, first + layout.features);
  for (size_t j = 0; j < layout.features; j++) {
    out.features.push_back(!named ? fmt::format("{}", j) : own ? original(rest[j], kFeature) : rest[j]);
  }
  size_t next = first + layout.features;
  if (layout.errors) {
    out.standard_error = columns_between(table, next, next + layout.features);
    next += layout.features;
  }
  if (layout.background_errors) out.background_error = columns_between(table, next, next + layout.features);
  const std::vector<double> undefined(table.rows(), std::numeric_limits<double>::quiet_NaN());
  out.output = own ? column(table, 1) : undefined;
  out.base = own ? column(table, 2) : undefined;
  out.gap = own ? column(table, 3) : undefined;
  if (own) {
    TableOptions text;
    text.categorical = {"target"};
    apply_options(table, text);
    read_target_column(table, out);
  }
  out.ids = std::move(table.ids);
  out.id_name = original(table.id_name, kId);
  out.row_numbers = out.id_name == kRowNumbers;  // a table does not say more
  return out;
}

std::string column_of_ids(const Table& table, const KeptDoubles& doubles) {
  if (!table.ids.empty() || table.columns.size() < 2 || table.rows() < 3) return {};
  if (fixed_from(column_names(table), 0)) return {};
  const auto whole = [](float value) { return std::isfinite(value) && value == std::trunc(value); };
  bool fractions = false;
  for (size_t i = 0; i < table.rows(); i++) {
    const auto row = table.values.row(i);
    if (table.columns[0].kind != ColumnKind::numeric || !whole(row[0])) return {};
    for (size_t j = 1; j < row.size(); j++) {
      if (table.columns[j].kind != ColumnKind::numeric) return {};
      fractions = fractions || (std::isfinite(row[j]) && !whole(row[j]));
    }
  }
  std::vector<double> numbers = column(table, 0);
  if (const std::vector<double>* const wide = doubles.find(table.columns[0].name); wide != nullptr) numbers = *wide;
  std::ranges::sort(numbers);
  const bool differ = std::ranges::adjacent_find(numbers) == numbers.end();
  return fractions && differ ? table.columns[0].name : std::string();
}

void note_ids(Explanations& made) {
  made.notes.push_back(
      fmt::format("column {} of whole numbers that all differ is taken for the names of rows, not for "
                  "attributions",
                  in_quotes(made.id_name)));
}

Explanations explanations_from_csv(const ByteOpener& open, const Context& context) {
  // The first row says whether the file is our own; then its first columns are text even if they look like numbers.
  CsvRows rows(open());
  std::vector<std::string> cells;
  if (rows.next()) cells.assign(rows.cells().begin(), rows.cells().end());
  TableOptions options;
  const bool with_ids = fixed_from(cells, 1);
  if (with_ids) options.id = cells[0];
  if (with_ids || fixed_from(cells, 0)) {
    options.header = TableOptions::Header::yes;
    options.categorical = {"target"};
  }
  KeptDoubles doubles;
  options.doubles = &doubles;
  Table table = read_csv(open, options, context);
  const bool counted = column_names(table) != std::vector<std::string>(cells);
  const std::string id = counted ? std::string() : column_of_ids(table, doubles);
  if (!id.empty()) {
    options.id = id;
    table = read_csv(open, options, context);
  }
  std::vector<std::string> names = column_names(table);
  if (with_ids || !id.empty()) names.insert(names.begin(), table.id_name);
  // The index that pandas writes has no name in the header, and is no column of the table.
  const bool has_index = !cells.empty() && cells[0].empty() && names.size() + 1 == cells.size();
  if (has_index) names.insert(names.begin(), "");
  Explanations made = explanations_from_table(std::move(table), names == cells);
  if (!id.empty()) note_ids(made);
  return made;
}

}  // namespace assay

#include "assay/data/id_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "assay/core/table_text.h"
#include "assay/core/text.h"

namespace assay {
namespace {

constexpr size_t kLeastPoolRows = 20;
constexpr size_t kLeastRowsToNote = 10;  // of both tables

std::optional<size_t> column_named(const Table& table, const std::string& name) {
  for (size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].name == name) return j;
  }
  return {};
}

// The cells as numbers, or as codes of texts.
std::vector<double> cells_of(const TableCells& from, size_t column) {
  const std::string& name = from.table->columns[column].name;
  if (const auto* kept = from.doubles == nullptr ? nullptr : from.doubles->find(name); kept != nullptr) return *kept;
  std::vector<double> cells(from.table->rows());
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = from.table->values(i, column);
  return cells;
}

bool no_two_equal(std::vector<double>& cells) {
  if (std::ranges::any_of(cells, [](double cell) { return !std::isfinite(cell); })) return false;
  std::ranges::sort(cells);
  return std::ranges::adjacent_find(cells) == cells.end();
}

// Sorted and different.
bool without_gaps(const std::vector<double>& cells) {
  return cells.back() - cells.front() == static_cast<double>(cells.size() - 1);
}

// Few columns pass this, and it is much faster than sorting.
bool may_be_consecutive(const std::vector<double>& cells, size_t most) {
  double least = INFINITY;
  double largest = -INFINITY;
  for (const double cell : cells) {
    if (cell != std::trunc(cell)) return false;  // also NaN
    least = std::min(least, cell);
    largest = std::max(largest, cell);
    if (largest - least >= static_cast<double>(most)) return false;
  }
  return true;
}

bool only_names_rows(const TableCells& rows, size_t column, const TableCells& pool, size_t pool_column) {
  const Column& kind = rows.table->columns[column];
  const Column& pool_kind = pool.table->columns[pool_column];
  if (kind.kind != pool_kind.kind) return false;
  const bool text = kind.kind == ColumnKind::categorical;
  if (text && (kind.levels.size() < rows.table->rows() || pool_kind.levels.size() < pool.table->rows())) return false;
  std::vector<double> first = cells_of(rows, column);
  std::vector<double> second = cells_of(pool, pool_column);
  const size_t all = first.size() + second.size();
  if (!text && !(may_be_consecutive(first, all) && may_be_consecutive(second, all))) return false;
  if (!no_two_equal(first) || !no_two_equal(second)) return false;
  if (text) return true;
  if (without_gaps(first) && without_gaps(second)) return true;
  std::vector<double> both;
  std::ranges::set_union(first, second, std::back_inserter(both));
  return without_gaps(both);
}

std::string cell_as_name(const TableCells& from, size_t row, size_t column) {
  const Column& kind = from.table->columns[column];
  const float value = from.table->values(row, column);
  if (std::isnan(value)) return "";
  if (kind.kind == ColumnKind::categorical) return kind.levels[static_cast<size_t>(value)];
  const auto* kept = from.doubles == nullptr ? nullptr : from.doubles->find(kind.name);
  return fmt::format("{:.0f}", kept == nullptr ? value : (*kept)[row]);
}

// Whatever the number of rows is.
std::vector<std::string> columns_like_ids(const TableCells& rows, const TableCells& pool,
                                          const std::function<bool(const std::string&)>& taken) {
  const Table& table = *rows.table;
  if (!table.id_name.empty() || !pool.table->id_name.empty()) return {};
  if (table.rows() == 0 || pool.table->rows() == 0 || !table.item_shape.empty()) return {};
  std::vector<std::string> found;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const std::string& name = table.columns[j].name;
    const std::optional<size_t> other = column_named(*pool.table, name);
    if (!other || table.label == j || pool.table->label == other || taken(name)) continue;
    if (only_names_rows(rows, j, pool, *other)) found.push_back(name);
  }
  return found;
}

}  // namespace

std::vector<std::string> id_columns(const TableCells& rows, const TableCells& pool,
                                    const std::function<bool(const std::string&)>& taken) {
  if (pool.table->rows() < kLeastPoolRows) return {};
  return columns_like_ids(rows, pool, taken);
}

std::vector<std::string> ids_beside_positions(std::vector<std::string> found, const Table& rows, size_t model_columns) {
  const size_t columns = rows.columns.size() - (rows.label ? 1 : 0);
  const bool texts = std::ranges::all_of(found, [&](const std::string& name) {
    const auto column = std::ranges::find(rows.columns, name, &Column::name);
    return column != rows.columns.end() && column->kind == ColumnKind::categorical;
  });
  if (columns != model_columns + found.size() || (!texts && !rows.label)) found.clear();
  return found;
}

std::vector<std::string> notes_on_possible_ids(const TableCells& rows, const TableCells& pool,
                                               const std::function<bool(const std::string&)>& taken) {
  const size_t in_pool = pool.table->rows();
  if (in_pool >= kLeastPoolRows || rows.table->rows() + in_pool < kLeastRowsToNote) return {};
  std::vector<std::string> notes;
  for (const std::string& name : columns_like_ids(rows, pool, taken)) {
    notes.push_back(
        fmt::format("column {} may only name rows, for it is different in every one; it is taken for a feature, "
                    "because {} of the pool are too few to tell",
                    in_quotes(name), plural(in_pool, "row")));
  }
  return notes;
}

void take_ids(Table& table, const KeptDoubles* doubles, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::optional<size_t> column = column_named(table, name);
    if (!column) continue;
    if (table.id_name.empty() && name == names[0]) {
      table.id_name = name;
      for (size_t i = 0; i < table.rows(); ++i) table.ids.push_back(cell_as_name({&table, doubles}, i, *column));
    }
    Matrix rest(table.rows(), table.values.cols() - 1);
    for (size_t i = 0; i < table.rows(); ++i) {
      const auto row = table.values.row(i);
      const auto middle = std::ranges::copy(row.first(*column), rest.row(i).begin()).out;
      std::ranges::copy(row.subspan(*column + 1), middle);
    }
    table.values = std::move(rest);
    table.columns.erase(table.columns.begin() + static_cast<ptrdiff_t>(*column));
    if (table.label && *table.label > *column) --*table.label;
  }
}

std::vector<std::string> notes_on_ids(const std::vector<std::string>& names) {
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    notes.push_back(fmt::format("column {} {}: it is different in every row, and the model does not take it",
                                in_quotes(name),
                                name == names[0] ? "is taken for the names of rows, not for a feature"
                                                 : "is left out, for it could only name rows"));
  }
  return notes;
}

}  // namespace assay

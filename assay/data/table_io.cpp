#include "assay/data/table_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "assay/core/error.h"
#include "assay/data/io/array_table.h"
#include "assay/data/io/number.h"
#include "assay/data/io/plugin.h"

namespace assay {
namespace {

enum class Format { csv, npy, npz, idx, arrow };

Format format_of(const std::string& path) {
  if (is_arrow_path(path)) return Format::arrow;
  const std::string extension = format_extension(path);
  for (const char* text : {".csv", ".tsv", ".psv", ".txt", ".data"}) {
    if (extension == text) return Format::csv;
  }
  if (extension == ".npy") return Format::npy;
  if (extension == ".npz") return Format::npz;
  // MNIST's files are called train-images-idx3-ubyte.
  const std::string name = path.substr(path.find_last_of('/') + 1);
  if (extension == ".idx" || (name.find("-idx") != std::string::npos && name.find("ubyte") != std::string::npos)) {
    return Format::idx;
  }
  fail_input(path,
             "a name that ends in .csv, .tsv, .psv, .txt, .data, .npy, .npz, .idx, .parquet or .feather (also with .gz "
             "or .xz behind it)",
             extension.empty() ? "one without an extension" : in_quotes(extension));
}

std::string cell_text(const Table& table, size_t row, size_t column) {
  const float value = table.values(row, column);
  if (std::isnan(value)) return "";
  if (table.columns[column].kind == ColumnKind::categorical) {
    return table.columns[column].levels[static_cast<size_t>(value)];
  }
  return number_text(value);
}

// Numbers that float32 rounded would give different rows the same name.
void require_exact(const Table& table, size_t column) {
  if (table.columns[column].rounded == 0) return;
  fail_input(fmt::format("{}, column {}", table.source, in_quotes(table.columns[column].name)),
             "names or categories as text, or numbers below 2^24",
             fmt::format("{} larger ones that float32 cannot tell apart", table.columns[column].rounded));
}

// A numeric column as categories: each number's text is a level.
void make_categorical(Table& table, size_t column) {
  if (table.columns[column].kind == ColumnKind::categorical) return;
  std::map<float, float> codes;
  auto& levels = table.columns[column].levels;
  for (size_t i = 0; i < table.rows(); ++i) {
    float& value = table.values(i, column);
    if (std::isnan(value)) continue;
    const auto [entry, fresh] = codes.try_emplace(value, static_cast<float>(levels.size()));
    if (fresh) levels.push_back(cell_text(table, i, column));
    value = entry->second;
  }
  table.columns[column].kind = ColumnKind::categorical;
  sort_levels(table, column);
}

// Takes the id column out of the matrix.
void extract_ids(Table& table, size_t column) {
  table.id_name = table.columns[column].name;
  table.ids.clear();
  Matrix rest(table.rows(), table.values.cols() - 1);
  for (size_t i = 0; i < table.rows(); ++i) {
    table.ids.push_back(cell_text(table, i, column));
    const auto row = table.values.row(i);
    const auto middle = std::ranges::copy(row.first(column), rest.row(i).begin()).out;
    std::ranges::copy(row.subspan(column + 1), middle);
  }
  table.values = std::move(rest);
  table.columns.erase(table.columns.begin() + static_cast<ptrdiff_t>(column));
  if (table.label && *table.label > column) --*table.label;
}

}  // namespace

void apply_options(Table& table, const TableOptions& options) {
  const auto names = column_names(table);
  for (const auto& name : options.numeric) {
    const size_t column = find_column(table.source, names, name);
    if (table.columns[column].kind == ColumnKind::categorical) {
      fail_input(fmt::format("{}, column {}", table.source, in_quotes(names[column])), "numbers", "text");
    }
  }
  for (const auto& name : options.categorical) {
    const size_t column = find_column(table.source, names, name);
    if (std::ranges::find(options.numeric, name) != options.numeric.end()) {
      fail_input(fmt::format("{}: column {} is declared twice, with different kinds", table.source, in_quotes(name)));
    }
    require_exact(table, column);
    make_categorical(table, column);
    if (options.doubles != nullptr) options.doubles->erase(names[column]);
  }
  if (!options.label.empty()) table.label = find_column(table.source, names, options.label);
  if (options.id.empty() || options.id == table.id_name) return;
  const size_t id = find_column(table.source, names, options.id);
  if (table.label == id) {
    fail_input(fmt::format("{}: column {} cannot be both label and id", table.source, in_quotes(names[id])));
  }
  require_exact(table, id);
  extract_ids(table, id);
}

Table read_table(const std::string& path, const TableOptions& options, const Context& context) {
  if (path == "-") return read_csv(reopenable("/dev/stdin", context), options, context);
  const Format format = format_of(path);
  if (format == Format::csv) return read_csv(reopenable(path, context), options, context);
  refuse_text_options(path, options);
  const ArrowReading reading{options.doubles, options.id, options.used ? &*options.used : nullptr};
  Table table = format == Format::npy   ? read_npy_table(*open_bytes(path, context), options.doubles)
                : format == Format::npz ? read_npz_table(path, context, options.doubles)
                : format == Format::idx ? read_idx_table(*open_bytes(path, context))
                                        : read_arrow_table(path, context, reading);
  if (table.rows() == 0) fail_input(path, "a table with at least one row", "none");
  apply_options(table, options);
  return table;
}

void refuse_text_options(const std::string& where, const TableOptions& options) {
  const TableOptions defaults;
  if (options.delimiter != defaults.delimiter || options.header != defaults.header || !options.names.empty() ||
      options.skip_lines != 0 || options.missing != defaults.missing) {
    fail_input(where, "a text file, for options about delimiter, header, names, lines to skip or missing cells",
               "another kind of table");
  }
}

void check_output(const std::string& path) {
  if (path == "-") return;
  if (format_of(path) == Format::arrow) require_arrow_plugin(path);
  check_output_folder(path);
}

void check_output_folder(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
    fail_input(path, "a folder to write into", fmt::format("no folder {}", folder.string()));
  }
}

void write_table(const Table& table, const std::string& path, const Context& context) {
  switch (path == "-" ? Format::csv : format_of(path)) {
    case Format::csv: return write_csv(table, path, context);
    case Format::npy: return write_npy_table(table, path, context);
    case Format::npz: return write_npz_table(table, path, context);
    case Format::idx: return write_idx_table(table, path, context);
    case Format::arrow: return write_arrow_table(table, path, context);
  }
}

}  // namespace assay

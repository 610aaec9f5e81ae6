#include "assay/data/io/array_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/data/io/idx.h"
#include "assay/data/io/npy.h"
#include "assay/data/io/npz.h"
#include "assay/data/io/table_meta.h"

namespace assay {
namespace {

constexpr size_t kMaxColumns = size_t{1} << 22;

void check_shape(std::string_view where, const std::vector<size_t>& shape) {
  const auto [rows, columns] = rows_and_columns(shape);
  if (shape.empty() || rows == 0 || columns == 0) {
    fail_input(where, "at least one row and one column",
               shape.empty() ? shape_text(shape) : shape_text({rows, columns}));
  }
  if (columns > kMaxColumns) {
    fail_input(where, fmt::format("at most {} columns", kMaxColumns), fmt::format("{}", columns));
  }
}

std::vector<size_t> item_shape_of(const std::vector<size_t>& shape) {
  return shape.size() > 2 ? std::vector<size_t>(shape.begin() + 1, shape.end()) : std::vector<size_t>();
}

// The values of one array, and of another of as many rows beside them as a last column.
void fill_values(Table& table, std::string_view where, const NpyArray& array, KeptDoubles* kept,
                 std::string_view extra_where = {}, const NpyArray* extra = nullptr) {
  const auto [rows, columns] = rows_and_columns(array.shape);
  const size_t width = columns + (extra != nullptr ? 1 : 0);
  table.values = Matrix(rows, width);
  std::vector<size_t> rounded(columns);
  std::vector<std::vector<double>> doubles(kept != nullptr ? columns : 0);
  copy_numbers(where, array, {table.values.data(), rows, columns, width}, rounded, doubles);
  for (size_t j = 0; j < columns; ++j) table.columns[j].rounded = rounded[j];
  for (size_t j = 0; j < doubles.size(); ++j) kept->set(table.columns[j].name, std::move(doubles[j]));
  if (extra != nullptr) {
    copy_numbers(extra_where, *extra, {table.values.data() + columns, rows, 1, width},
                 {&table.columns[columns].rounded, 1});
  }
}

std::vector<Column> numbered_columns(size_t count) {
  std::vector<Column> columns(count);
  for (size_t j = 0; j < count; ++j) columns[j].name = fmt::format("x{}", j + 1);
  return columns;
}

Table table_of(const std::string& source, const NpyArray& array, KeptDoubles* kept) {
  if (array.is_text()) fail_input(source, "numbers", "text, dtype " + dtype_text(array.type, array.item_size));
  check_shape(source, array.shape);
  Table table;
  table.source = source;
  table.columns = numbered_columns(rows_and_columns(array.shape).second);
  table.item_shape = item_shape_of(array.shape);
  fill_values(table, source, array, kept);
  return table;
}

bool all_different(const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> seen;
  return std::ranges::all_of(names, [&](const std::string& name) { return seen.insert(name).second; });
}

void check_codes(const std::string& where, const Table& table) {
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    if (column.kind != ColumnKind::categorical) continue;
    for (size_t i = 0; i < table.rows(); ++i) {
      const float code = table.values(i, j);
      const bool valid = std::isnan(code) || (code >= 0 && code == std::trunc(code) &&
                                              static_cast<double>(code) < static_cast<double>(column.levels.size()));
      if (!valid) {
        fail_input(where, fmt::format("a code below {} in column {}", column.levels.size(), in_quotes(column.name)),
                   fmt::format("{} in row {}", code, i + 1));
      }
    }
  }
}

// The number is checked before the texts are made: a text in memory is much larger than in the file.
std::vector<std::string> read_texts(const NpzFile& file, std::string_view name, size_t count, std::string_view each) {
  const NpyArray array = file.read(name);
  const std::string where = array_where(file, name);
  if (array.count() != count) {
    fail_input(where, fmt::format("{} texts, one for each {}", count, each), fmt::format("{}", array.count()));
  }
  return to_strings(where, array);
}

Table read_own(const NpzFile& file, const std::string& meta) {
  Table table;
  table.source = file.name();
  const std::string where = array_where(file, "values");
  read_table_meta(array_where(file, "meta"), meta, table);
  const NpyArray values = file.read("values");
  const bool matches = values.shape.size() == 2 && values.shape[1] == table.columns.size();
  if (!matches || (table.columns.empty() && values.shape[0] > 0)) {
    fail_input(where, fmt::format("rows x {} columns, as 'meta' says", table.columns.size()), shape_text(values.shape));
  }
  std::vector<size_t> rounded;
  for (const auto& column : table.columns) rounded.push_back(column.rounded);
  fill_values(table, where, values, nullptr);  // float32, as it was written
  for (size_t j = 0; j < rounded.size(); ++j) table.columns[j].rounded += rounded[j];
  check_codes(where, table);
  if (file.contains("features") &&
      read_texts(file, "features", table.columns.size(), "column") != column_names(table)) {
    fail_input(array_where(file, "features"), "the names in 'meta'", "others");
  }
  if (file.contains("ids")) table.ids = read_texts(file, "ids", table.rows(), "row");
  return table;
}

// The array that holds the values of a file that was not written here.
std::string find_values(const NpzFile& file) {
  for (const char* name : {"values", "x", "X", "data"}) {
    if (file.contains(name)) return name;
  }
  constexpr size_t kMostListed = 20;
  std::vector<std::string> candidates, listed;
  for (const auto& name : file.names()) {
    const NpyHeader header = file.header(name);
    if (!is_text(header.type) && header.shape.size() >= 2) candidates.push_back(name);
    if (listed.size() < kMostListed) {
      listed.push_back(fmt::format("{} ({}, {})", in_quotes(name), dtype_text(header.type, header.item_size),
                                   shape_text(header.shape)));
    }
  }
  if (candidates.size() == 1) return candidates[0];
  if (file.names().size() > kMostListed) listed.push_back(fmt::format("{} more", file.names().size() - kMostListed));
  fail_input(file.name(), "an array named values, x, X or data, or only one numeric array of two or more dimensions",
             listed.empty() ? "no arrays" : joined(listed));
}

std::optional<std::string> find_label(const NpzFile& file, size_t rows, std::string_view values_name) {
  for (const char* name : {"y", "labels", "label", "target"}) {
    if (!file.contains(name) || name == values_name) continue;
    const NpyHeader header = file.header(name);
    if (!header.shape.empty() && rows_and_columns(header.shape) == std::pair(rows, size_t{1})) return name;
  }
  return std::nullopt;
}

// Text as the codes of a categorical column: an array of one number for each row, and its levels in byte order.
NpyArray encode_text(const std::vector<std::string>& texts, Column& column) {
  column.kind = ColumnKind::categorical;
  column.levels = texts;
  std::ranges::sort(column.levels);
  const auto repeated = std::ranges::unique(column.levels);
  column.levels.erase(repeated.begin(), repeated.end());
  Matrix codes(texts.size(), 1);
  for (size_t i = 0; i < texts.size(); ++i) {
    codes(i, 0) = static_cast<float>(std::ranges::lower_bound(column.levels, texts[i]) - column.levels.begin());
  }
  return npy_from_matrix(codes.view());
}

Table read_foreign(const NpzFile& file, KeptDoubles* kept) {
  const std::string name = find_values(file);
  const std::string where = array_where(file, name);
  const NpyArray values = file.read(name);
  if (values.is_text()) fail_input(where, "numbers", "text, dtype " + dtype_text(values.type, values.item_size));
  check_shape(where, values.shape);
  const auto [rows, columns] = rows_and_columns(values.shape);
  Table table;
  table.source = file.name();
  table.columns = numbered_columns(columns);
  table.item_shape = item_shape_of(values.shape);
  if (file.contains("features")) {
    const NpyArray features = file.read("features");
    std::vector<std::string> names;
    if (features.is_text() && features.count() == columns) {
      names = to_strings(array_where(file, "features"), features);
    }
    if (names.size() == columns && all_different(names)) {
      for (size_t j = 0; j < columns; ++j) table.columns[j].name = std::move(names[j]);
    }
  }
  const auto label = find_label(file, rows, name);
  if (!label) {
    fill_values(table, where, values, kept);
    return table;
  }
  const std::string label_where = array_where(file, *label);
  if (std::ranges::find(table.columns, "label", &Column::name) != table.columns.end()) {
    fail_input(label_where, "no feature named 'label' beside it", "one in 'features'");
  }
  table.label = columns;
  table.columns.push_back({.name = "label"});
  NpyArray labels = file.read(*label);
  if (labels.is_text()) labels = encode_text(to_strings(label_where, labels), table.columns.back());
  if (table.columns.back().levels.size() > kMostLevels) {
    fail_input(label_where, "at most 2^24 different labels", fmt::format("{}", table.columns.back().levels.size()));
  }
  labels.shape = {rows};
  fill_values(table, where, values, kept, label_where, &labels);
  return table;
}

Table read_npz(const NpzFile& file, KeptDoubles* kept = nullptr) {
  if (file.contains("meta") && file.contains("values")) {
    const NpyHeader header = file.header("meta");
    if (header.type == NpyType::unicode && header.shape.empty()) {
      const std::string meta = to_strings(array_where(file, "meta"), file.read("meta"))[0];
      // Other programs may keep notes of their own under this name.
      if (meta.starts_with('{') && meta.find("\"assay\"") != std::string::npos) return read_own(file, meta);
    }
  }
  return read_foreign(file, kept);
}

void refuse_categories(const Table& table, const std::string& path, std::string_view format) {
  for (const auto& column : table.columns) {
    if (column.kind == ColumnKind::categorical) {
      fail_input(path, fmt::format("only numeric columns in {} (NPZ and CSV keep categories)", format),
                 "the categorical column " + in_quotes(column.name));
    }
  }
}

// The table's own dimensions: those of its images when the columns are exactly one image.
std::vector<size_t> full_shape(const Table& table) {
  size_t product = 1;
  for (const size_t size : table.item_shape) product *= size;
  std::vector<size_t> shape = {table.rows()};
  if (!table.item_shape.empty() && product == table.columns.size()) {
    shape.insert(shape.end(), table.item_shape.begin(), table.item_shape.end());
  } else {
    shape.push_back(table.columns.size());
  }
  return shape;
}

}  // namespace

Table read_npy_table(ByteSource& source, KeptDoubles* kept) { return table_of(source.name(), read_npy(source), kept); }

Table read_idx_table(ByteSource& source) { return table_of(source.name(), read_idx(source), nullptr); }

Table read_npz_table(const std::string& path, const Context& context, KeptDoubles* kept) {
  return read_npz(NpzFile(path, context), kept);
}

Table read_npz_table(std::string name, std::string_view bytes) { return read_npz(NpzFile(std::move(name), bytes)); }

void write_npy_table(const Table& table, const std::string& path, const Context& context) {
  refuse_categories(table, path, "NPY");
  // The values as they lie in memory: a copy would take as much again.
  const auto values = std::as_bytes(table.values.values());
  AtomicFile file(path, context);
  file.write(npy_header({NpyType::float32, sizeof(float), full_shape(table)}));
  file.write({reinterpret_cast<const char*>(values.data()), values.size()});
  file.commit();
}

void write_idx_table(const Table& table, const std::string& path, const Context& context) {
  refuse_categories(table, path, "IDX");
  NpyArray array = npy_from_matrix(table.values.view());
  const auto is_byte = [](float value) {
    // By bits, so that -0 is not one.
    return value >= 0 && value <= 255 &&
           std::bit_cast<uint32_t>(static_cast<float>(static_cast<uint8_t>(value))) == std::bit_cast<uint32_t>(value);
  };
  if (std::ranges::all_of(table.values.values(), is_byte)) {
    array.type = NpyType::uint8;
    array.item_size = 1;
    array.bytes.clear();
    for (const float value : table.values.values()) array.bytes += static_cast<char>(static_cast<uint8_t>(value));
  }
  array.shape = full_shape(table);
  if (array.shape.size() == 2 && array.shape[1] == 1) array.shape.pop_back();
  AtomicFile file(path, context);
  write_idx(path, file, array);
  file.commit();
}

void write_npz_table(const Table& table, const std::string& path, const Context& context) {
  if (table.columns.empty() && table.rows() > 0) fail_input(path, "a table with columns", "none");
  std::vector<std::pair<std::string, NpyArray>> arrays;
  arrays.emplace_back("values", npy_from_matrix(table.values.view()));
  arrays.emplace_back("features", npy_from_strings(path, column_names(table)));
  arrays.emplace_back("meta", npy_from_string(path, table_meta_text(path, table)));
  if (!table.ids.empty()) arrays.emplace_back("ids", npy_from_strings(path, table.ids));
  write_npz(path, arrays, false, context);
}

}  // namespace assay

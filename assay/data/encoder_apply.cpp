#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <unordered_map>

#include "assay/core/budget.h"
#include "assay/core/error.h"
#include "assay/data/encoder.h"
#include "assay/data/io/number.h"
#include "assay/data/known_levels.h"
#include "assay/data/lost_digits.h"
#include "assay/data/text_cells.h"

namespace assay {
namespace {

std::string cell_name(const Table& table, size_t row, size_t column) {
  return fmt::format("{}, row {}, column {}", table.source, row + 1, in_quotes(table.columns[column].name));
}

using Positions = std::unordered_map<std::string, size_t>;

Positions positions(const std::vector<std::string>& names) {
  Positions out;
  for (size_t i = 0; i < names.size(); ++i) out.emplace(names[i], i);
  return out;
}

// A numeric column on its way from the table to the data set.
struct NumberPath {
  size_t from;
  size_t to;
  const ColumnEncoding* encoding;
};

// Row by row, because a wide table walked column by column misses the cache at every value.
void encode_numbers(const std::vector<NumberPath>& paths, const Table& table, Matrix& out) {
  for (size_t i = 0; i < table.rows(); ++i) {
    const auto raw = table.values.row(i);
    const auto encoded = out.row(i);
    for (const auto& [from, to, encoding] : paths) {
      double value = raw[from];
      if (std::isnan(value)) value = encoding->fill;
      encoded[to] = static_cast<float>((value - encoding->shift) / encoding->scale);
    }
  }
}

void require_numbers(const Table& table, size_t column) {
  if (table.columns[column].kind == ColumnKind::numeric) return;
  if (const auto cell = first_text_cell(table, column)) {
    fail_input(cell_name(table, cell->row, column), "a number", in_quotes(cell->text));
  }
}

// The code in the encoding of each value of a table's column: a code there, or a number when a short file made the
// column look numeric.
class CodeMap {
 public:
  CodeMap(const ColumnEncoding& encoding, const Table& table, size_t column)
      : encoding_(encoding),
        table_(table),
        column_(column),
        first_(encoding.missing_level ? 1.0f : 0.0f),
        levels_(encoding.levels) {
    levels_.check(table, column);
    missing_ = encoding.missing_level ? 0.0f : kMissing;
    if (!std::isnan(encoding.fill)) missing_ = static_cast<float>(encoding.fill) + first_;
  }

  float code_of(size_t row) {
    const float value = table_.values(row, column_);
    if (std::isnan(value)) return missing_;
    const auto [known, fresh] = codes_.try_emplace(value, 0.0f);
    if (fresh) known->second = look_up(row, value);
    return known->second;
  }

 private:
  float look_up(size_t row, float value) const {
    const Column& column = table_.columns[column_];
    const std::optional<size_t> found = levels_.find(column, value);
    if (!found) {
      const std::string level = KnownLevels::text(column, value);
      fail_input(cell_name(table_, row, column_), "one of the categories of the training rows",
                 in_quotes(level) + suggestion(level, encoding_.levels));
    }
    return static_cast<float>(*found) + first_;
  }

  const ColumnEncoding& encoding_;
  const Table& table_;
  size_t column_;
  float first_;    // code of the first level
  float missing_;  // what a missing value becomes
  KnownLevels levels_;
  std::unordered_map<float, float> codes_;
};

void encode_categories(const ColumnEncoding& encoding, const Table& table, size_t from, Matrix& out, size_t to,
                       size_t width) {
  CodeMap codes(encoding, table, from);
  for (size_t i = 0; i < table.rows(); ++i) {
    const float code = codes.code_of(i);
    if (!encoding.one_hot) {
      out(i, to) = code;
    } else if (std::isnan(code)) {
      std::ranges::fill(out.row(i).subspan(to, width), kMissing);
    } else {
      out(i, to + static_cast<size_t>(code)) = 1;
    }
  }
}

// Which cells of a column are missing; empty if none is.
std::vector<bool> missing_cells(const Table& table, size_t column) {
  std::vector<bool> missing(table.rows());
  for (size_t i = 0; i < table.rows(); ++i) missing[i] = std::isnan(table.values(i, column));
  return std::ranges::find(missing, true) == missing.end() ? std::vector<bool>() : missing;
}

// One-hot columns can make gigabytes of a small file: an encoded table may take as much as any job that a file sizes,
// or this multiple of the table where that is more.
constexpr uint64_t kMostGrowth = 64;

[[noreturn]] void refuse_size(const std::vector<ColumnEncoding>& columns, const Table& table, uint64_t bytes,
                              const std::string& allowed) {
  const auto width = [](const ColumnEncoding& column) { return column.one_hot ? column.levels.size() : 0; };
  const auto widest = std::ranges::max_element(columns, {}, width);
  fail_input(
      fmt::format("{}, column {}: a column for each of its {} levels makes a table of {} rows that takes {}, and {}; "
                  "encode categories as label, or leave the column out",
                  table.source, in_quotes(widest->name), width(*widest), table.rows(), bytes_in_words(bytes), allowed));
}

// Zeros. An input error before memory is taken that is not there.
Matrix room_for(const std::vector<ColumnEncoding>& columns, const Table& table, size_t width) {
  // Columns come from a table in memory and levels from a file: no product overflows.
  const uint64_t bytes = uint64_t{table.rows()} * width * sizeof(float);
  const bool one_hot = std::ranges::any_of(columns, &ColumnEncoding::one_hot);
  const uint64_t most = std::max(Budget{}.bytes, kMostGrowth * table.rows() * table.columns.size() * sizeof(float));
  if (one_hot && bytes > most) {
    refuse_size(columns, table, bytes, fmt::format("at most {} are allowed", bytes_in_words(most)));
  }
  try {
    return Matrix(table.rows(), width);
  } catch (const std::bad_alloc&) {
    if (!one_hot) throw;
    refuse_size(columns, table, bytes, "there is not so much memory");
  }
}

}  // namespace

Dataset Encoder::apply(const Table& table) const {
  Dataset out;
  out.source = table.source;
  out.part = table.part;
  out.id_name = table.id_name;
  out.ids = table.ids;
  out.item_shape = item_shape_;
  out.feature_names = feature_names();
  out.x = room_for(columns_, table, out.feature_names.size());
  const Positions position = positions(column_names(table));
  std::vector<NumberPath> numbers;
  std::vector<std::string> rounded;
  size_t to = 0;
  for (const auto& encoding : columns_) {
    const auto found = position.find(encoding.name);
    if (found == position.end()) {
      fail_input(fmt::format("{}: there is no column {}, which the model needs{}", table.source,
                             in_quotes(encoding.name), suggestion(encoding.name, column_names(table))));
    }
    FeatureGroup group{encoding.name, to, 1, encoding.kind, encoding.all_levels()};
    if (encoding.one_hot) group.count = group.levels.size();
    if (encoding.kind == ColumnKind::numeric) {
      require_numbers(table, found->second);
      numbers.push_back({found->second, to, &encoding});
      group.words_of_truth = table.columns[found->second].words_of_truth;
      if (encoding.shift != 0 || encoding.scale != 1) out.scaled[to] = {encoding.shift, encoding.scale};
      if (table.columns[found->second].rounded > 0 && lost_digits(table.values.view(), found->second).worth_telling) {
        rounded.push_back(in_quotes(encoding.name));
      }
    } else {
      encode_categories(encoding, table, found->second, out.x, to, group.count);
    }
    if (!std::isnan(encoding.fill)) {
      if (auto missing = missing_cells(table, found->second); !missing.empty()) out.imputed[to] = std::move(missing);
    }
    to += group.count;
    out.groups.push_back(std::move(group));
  }
  encode_numbers(numbers, table, out.x);
  if (!rounded.empty()) {
    out.notes.push_back(fmt::format(
        "{}: numbers beyond 2^24 in {} are rounded to float32, so cells that lie close together become one; "
        "subtract a constant from the column",
        table.source, joined(rounded, "and")));
  }
  encode_labels(table, out);
  return out;
}

void Encoder::encode_labels(const Table& table, Dataset& out) const {
  const auto names = column_names(table);
  const auto found = std::ranges::find(names, label_);
  if (label_.empty() || found == names.end()) return;
  const auto from = static_cast<size_t>(found - names.begin());
  const Column& column = table.columns[from];
  const bool text = column.kind == ColumnKind::categorical;
  out.label_name = label_;
  out.class_names = class_names_;
  out.labels.resize(table.rows());
  const Positions classes = positions(class_names_);
  KnownLevels(class_names_).check(table, from);
  const auto label_cell = [&](size_t row) {
    return fmt::format("{}, row {}, label {}", table.source, row + 1, in_quotes(label_));
  };
  if (const auto cell = text && class_names_.empty() ? first_text_cell(table, from) : std::nullopt) {
    fail_input(label_cell(cell->row), "a number", in_quotes(cell->text));
  }
  for (size_t i = 0; i < table.rows(); ++i) {
    const float value = table.values(i, from);
    out.labels[i] = value;
    if (std::isnan(value) || class_names_.empty()) continue;
    const std::string name = text ? column.levels[static_cast<size_t>(value)] : number_text(value);
    const auto match = classes.find(name);
    if (match == classes.end()) {
      fail_input(label_cell(i), "one of the classes of the training rows", in_quotes(name));
    }
    out.labels[i] = static_cast<float>(match->second);
  }
}

}  // namespace assay

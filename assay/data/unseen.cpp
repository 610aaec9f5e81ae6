#include "assay/data/unseen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/data/known_levels.h"

namespace assay {
namespace {

// The rows of a column that hold something else than these texts. Missing cells are no such rows. A short file may make
// a column of categories look numeric.
std::vector<size_t> rows_beyond(const std::vector<std::string>& known, const Table& table, size_t column) {
  const KnownLevels levels(known);
  levels.check(table, column);
  const Column& from = table.columns[column];
  std::unordered_map<float, bool> beyond;
  std::vector<size_t> rows;
  for (size_t i = 0; i < table.rows(); ++i) {
    const float value = table.values(i, column);
    if (std::isnan(value)) continue;
    const auto [found, fresh] = beyond.try_emplace(value, false);
    if (fresh) found->second = !levels.find(from, value);
    if (found->second) rows.push_back(i);
  }
  return rows;
}

size_t position_of(const Table& table, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(table.columns, name, &Column::name) - table.columns.begin());
}

// A one-hot feature of a single level is one column too; where it is not set, its value is the last "code" as well.
bool is_unknown(const FeatureGroup& group, std::span<const float> values) {
  if (group.count == 1) return values[0] == static_cast<float>(group.levels.size() - 1);
  return std::ranges::all_of(values, [](float v) { return v == 0; });
}

}  // namespace

std::vector<size_t> rows_of_unknown_class(const Encoder& encoder, const Table& table) {
  if (encoder.class_names().empty()) return {};
  // Of no rows, which tells what the label is called.
  const std::string label = encoder.apply(select_rows(table, {})).label_name;
  if (label.empty()) return {};
  return rows_beyond(encoder.class_names(), table, position_of(table, label));
}

Dataset apply_with_unknown(const Encoder& encoder, const Table& table) {
  const Dataset none = encoder.apply(select_rows(table, {}));
  struct UnknownCells {
    size_t feature;
    size_t column;
    std::vector<size_t> rows;
  };
  std::vector<UnknownCells> unknown;
  for (size_t f = 0; f < encoder.columns().size(); ++f) {
    const ColumnEncoding& encoding = encoder.columns()[f];
    if (encoding.kind != ColumnKind::categorical) continue;
    const size_t column = position_of(table, encoding.name);
    std::vector<size_t> rows = rows_beyond(encoding.levels, table, column);
    if (!rows.empty()) unknown.push_back({f, column, std::move(rows)});
  }
  const std::vector<size_t> unknown_class = rows_of_unknown_class(encoder, table);
  Dataset out;
  if (unknown.empty() && unknown_class.empty()) {
    out = encoder.apply(table);
  } else {
    // What the encoder would refuse is hidden from it, and put in afterwards.
    Table hidden = table;
    for (const UnknownCells& cells : unknown) {
      for (const size_t row : cells.rows) hidden.values(row, cells.column) = kMissing;
    }
    for (const size_t row : unknown_class) hidden.values(row, position_of(table, none.label_name)) = kMissing;
    out = encoder.apply(hidden);
  }
  for (size_t f = 0; f < out.groups.size(); ++f) {
    const ColumnEncoding& encoding = encoder.columns()[f];
    if (encoding.kind != ColumnKind::categorical || encoding.one_hot) continue;
    std::vector<std::string>& levels = out.groups[f].levels;
    const bool taken = std::ranges::find(levels, "unknown") != levels.end();
    levels.emplace_back(taken ? "(unknown)" : "unknown");
  }
  for (const UnknownCells& cells : unknown) {
    const FeatureGroup& group = out.groups[cells.feature];
    const bool hot = encoder.columns()[cells.feature].one_hot;
    const float value = hot ? 0.0f : static_cast<float>(group.levels.size() - 1);
    for (const size_t row : cells.rows) std::ranges::fill(out.x.row(row).subspan(group.first, group.count), value);
  }
  return out;
}

std::vector<UnknownCategories> unknown_categories(const Dataset& data) {
  std::vector<UnknownCategories> out;
  for (const FeatureGroup& group : data.groups) {
    if (group.kind != ColumnKind::categorical) continue;
    UnknownCategories found{group.name};
    for (size_t i = 0; i < data.rows(); ++i) {
      found.rows += is_unknown(group, data.x.row(i).subspan(group.first, group.count)) ? 1 : 0;
    }
    if (found.rows > 0) out.push_back(std::move(found));
  }
  return out;
}

std::vector<std::string> unknown_in_words(const Dataset& data, size_t rows_of_unknown_class) {
  const auto some = [&](size_t rows) {
    return fmt::format("{} of the {} rows of {} {}", with_commas(rows), with_commas(data.rows()), data.source,
                       rows == 1 ? "has" : "have");
  };
  std::vector<std::string> sentences;
  for (const UnknownCategories& each : unknown_categories(data)) {
    sentences.push_back(fmt::format("{} a category of column {} that no training row has: it is taken for unknown",
                                    some(each.rows), in_quotes(each.feature)));
  }
  if (rows_of_unknown_class > 0) {
    sentences.push_back(fmt::format("{} a class that no training row has: no accuracy counts {}",
                                    some(rows_of_unknown_class), rows_of_unknown_class == 1 ? "it" : "them"));
  }
  return sentences;
}

}  // namespace assay

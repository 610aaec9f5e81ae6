#include "assay/explain/reasons/shown_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/core/statistics.h"
#include "assay/core/table_text.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

constexpr std::string_view kMissingText = "missing";
// Of a group of columns, so many are told.
constexpr size_t kMostShownColumns = 5;

std::optional<size_t> place_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end()) return {};
  return static_cast<size_t>(found - table.columns.begin());
}

// The words of a column's codes, also of the numbers of truth values; null if it shows numbers.
const std::vector<std::string>* words_in(const Column& column) {
  if (column.kind == ColumnKind::categorical) return &column.levels;
  return column.words_of_truth.empty() ? nullptr : &column.words_of_truth;
}

std::string cell_text(const Table& table, size_t row, size_t column, const std::vector<double>* doubles) {
  const float cell = table.values(row, column);
  if (std::isnan(cell)) return std::string(kMissingText);
  if (const auto* const words = words_in(table.columns[column]); words != nullptr) {
    return (*words)[static_cast<size_t>(cell)];
  }
  return doubles != nullptr ? fmt::format("{}", (*doubles)[row]) : number_text(cell);
}

double mean_of_column(const Table& table, size_t column) {
  RunningMoments moments;
  for (const double value : defined_values(table.values, column)) {
    if (std::isfinite(value)) moments.add(value);
  }
  return moments.count() == 0 ? NAN : moments.mean();
}

// The most frequent level, the first of several; empty if all cells are missing.
std::string frequent_level(const Table& table, size_t column) {
  std::map<double, size_t> counts;
  for (const double code : defined_values(table.values, column)) ++counts[code];
  if (counts.empty()) return {};
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return (*words_in(table.columns[column]))[static_cast<size_t>(most->first)];
}

// number: whether the rows show numbers.
void add_reference(const Table& table, const std::string& name, bool number, ShownFeature& made) {
  const std::optional<size_t> column = place_of(table, name);
  if (!column) return;
  if (words_in(table.columns[*column]) != nullptr) {
    made.reference = frequent_level(table, *column);
    return;
  }
  if (!number) return;  // the mean of numbers is no level
  made.reference_number = mean_of_column(table, *column);
  if (!std::isnan(made.reference_number)) made.reference = short_number(made.reference_number);
}

ShownFeature of_one_column(const Table& rows, size_t column, const KeptDoubles* doubles) {
  ShownFeature made{.known = true};
  const auto* own = doubles != nullptr ? doubles->find(rows.columns[column].name) : nullptr;
  const bool number = words_in(rows.columns[column]) == nullptr;
  for (size_t row = 0; row < rows.rows(); row++) {
    made.values.push_back(cell_text(rows, row, column, own));
    made.missing.push_back(std::isnan(rows.values(row, column)));
    made.numbers.push_back(number ? static_cast<double>(rows.values(row, column)) : NAN);
  }
  return made;
}

// "duration 24, amount 5951"
ShownFeature of_several_columns(const std::vector<std::string>& names, const Table& rows, const KeptDoubles* doubles) {
  ShownFeature made{.known = true, .several = true};
  made.numbers.assign(rows.rows(), NAN);
  for (size_t row = 0; row < rows.rows(); row++) {
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kMostShownColumns); i++) {
      const auto column = place_of(rows, names[i]);
      const std::string value =
          column ? cell_text(rows, row, *column, doubles != nullptr ? doubles->find(names[i]) : nullptr) : "unknown";
      fmt::format_to(std::back_inserter(text), "{}{} {}", i > 0 ? ", " : "", names[i], value);
    }
    if (names.size() > kMostShownColumns) text += ", ...";
    made.values.push_back(std::move(text));
  }
  return made;
}

// The level that the columns of a group stand for; missing if they stand for none.
float decoded_level(std::span<const float> values, const FeatureGroup& group) {
  if (group.count == 1) {
    const float code = values[0];
    const bool known = code >= 0 && code < static_cast<float>(group.levels.size()) && code == std::floor(code);
    return known ? code : kMissing;
  }
  const auto hot = std::ranges::find(values, 1.0F);
  if (hot == values.end() || group.levels.size() != values.size()) return kMissing;
  return static_cast<float>(hot - values.begin());
}

}  // namespace

FeatureColumns columns_named_alike(std::span<const std::string> features) {
  FeatureColumns columns;
  for (const std::string& name : features) columns.push_back({name});
  return columns;
}

bool are_given_groups(std::string_view players) {
  return !players.empty() && players != "columns" && players != "feature groups";
}

FeatureColumns columns_named_alike(FeatureColumns columns, const Table& table) {
  for (std::vector<std::string>& behind : columns) {
    for (std::string& own : behind) {
      if (place_of(table, own)) continue;
      std::vector<std::string> alike;
      for (const Column& column : table.columns) {
        std::string written = column.name;
        std::ranges::replace(written, ' ', '_');
        if (written == own) alike.push_back(column.name);
      }
      if (alike.size() == 1) own = alike[0];
    }
  }
  return columns;
}

FeatureColumns columns_of(const Explanations& explanations) {
  if (!explanations.columns.empty()) return explanations.columns;
  if (are_given_groups(explanations.provenance.players)) return FeatureColumns(explanations.players());
  return columns_named_alike(explanations.features);
}

FeatureColumns columns_of_players(const Players& players, const Dataset& data) {
  std::vector<std::string> raw = data.feature_names;
  for (const FeatureGroup& group : data.groups) {
    if (group.kind != ColumnKind::categorical && group.count > 1) continue;
    for (size_t c = group.first; c < group.first + group.count; c++) raw[c] = group.name;
  }
  FeatureColumns columns(players.size());
  for (size_t c = 0; c < raw.size(); c++) {
    std::vector<std::string>& own = columns[players.of_column[c]];
    if (std::ranges::find(own, raw[c]) == own.end()) own.push_back(raw[c]);
  }
  return columns;
}

FeatureColumns grouped_columns(const FeatureColumns& columns, const Players& groups) {
  FeatureColumns made(groups.size());
  for (size_t j = 0; j < columns.size(); j++) {
    std::vector<std::string>& own = made[groups.of_column[j]];
    own.insert(own.end(), columns[j].begin(), columns[j].end());
  }
  return made;
}

std::vector<ShownFeature> shown_features(const FeatureColumns& columns, const Table& rows, const KeptDoubles* doubles,
                                         const Table* reference) {
  std::vector<ShownFeature> shown;
  for (const std::vector<std::string>& names : columns) {
    if (names.size() > 1) {
      shown.push_back(of_several_columns(names, rows, doubles));
      continue;
    }
    const auto column = names.empty() ? std::nullopt : place_of(rows, names[0]);
    if (!column) {
      shown.emplace_back();
      continue;
    }
    shown.push_back(of_one_column(rows, *column, doubles));
    if (reference != nullptr) {
      add_reference(*reference, names[0], words_in(rows.columns[*column]) == nullptr, shown.back());
    }
  }
  return shown;
}

Table decoded_table(MatrixView<const float> rows, const Dataset& like, const Encoder* encoder) {
  struct Source {
    const FeatureGroup* group;
    size_t column;
    double shift;
    double scale;
  };
  Table table;
  std::vector<Source> sources;
  for (const FeatureGroup& group : like.groups) {
    if (group.kind == ColumnKind::categorical && !group.levels.empty()) {
      table.columns.push_back({group.name, ColumnKind::categorical, group.levels});
      sources.push_back({&group, group.first, 0, 1});
      continue;
    }
    for (size_t c = group.first; c < group.first + group.count; c++) {
      Source source{nullptr, c, 0, 1};
      if (encoder != nullptr) {
        const auto found = std::ranges::find(encoder->columns(), group.name, &ColumnEncoding::name);
        if (found != encoder->columns().end()) source = {nullptr, c, found->shift, found->scale};
      }
      table.columns.push_back({group.count == 1 ? group.name : like.feature_names[c]});
      table.columns.back().words_of_truth = group.words_of_truth;
      sources.push_back(source);
    }
  }
  table.source = like.source;
  table.values = Matrix(rows.rows(), sources.size());
  for (size_t i = 0; i < rows.rows(); i++) {
    for (size_t j = 0; j < sources.size(); j++) {
      const auto& [group, column, shift, scale] = sources[j];
      const double cell = rows(i, column);
      table.values(i, j) = group != nullptr           ? decoded_level(rows.row(i).subspan(column, group->count), *group)
                           : shift == 0 && scale == 1 ? static_cast<float>(cell)
                                                      : unscaled(cell, {shift, scale});
      // The mean of truth values is neither of them.
      const bool truth = group == nullptr && !table.columns[j].words_of_truth.empty();
      if (truth && table.values(i, j) != 0 && table.values(i, j) != 1) table.values(i, j) = kMissing;
    }
  }
  return table;
}

Table decoded_table(const Dataset& data, const Encoder* encoder) {
  Table table = decoded_table(data.x.view(), data, encoder);
  for (const FeatureGroup& group : data.groups) {
    const auto found = data.imputed.find(group.first);
    const std::optional<size_t> column = place_of(table, group.name);
    if (found == data.imputed.end() || !column) continue;
    for (size_t i = 0; i < table.rows(); i++) {
      if (found->second[i]) table.values(i, *column) = kMissing;
    }
  }
  return table;
}

}  // namespace assay

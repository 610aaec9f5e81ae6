#include "assay/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/error.h"

namespace assay {

float unscaled(double number, const ColumnScale& scale) {
  const double value = number * scale.scale + scale.shift;
  const double error = std::max(std::fabs(number), 1.0) * std::fabs(scale.scale) * 0x1p-22;
  if (!std::isfinite(value) || !(error > 0)) return static_cast<float>(value);
  const double step = std::pow(10.0, std::ceil(std::log10(error)));
  return static_cast<float>(std::round(value / step) * step);
}

Dataset select_rows(const Dataset& data, const std::vector<size_t>& rows) {
  Dataset out;
  out.source = data.source;
  out.part = data.part;
  out.feature_names = data.feature_names;
  out.groups = data.groups;
  out.label_name = data.label_name;
  out.id_name = data.id_name;
  out.row_numbers = data.row_numbers;
  out.class_names = data.class_names;
  out.item_shape = data.item_shape;
  out.notes = data.notes;
  out.x = Matrix(rows.size(), data.x.cols());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(data.x.row(rows[i]), out.x.row(i).begin());
    if (!data.labels.empty()) out.labels.push_back(data.labels[rows[i]]);
    if (!data.ids.empty()) out.ids.push_back(data.ids[rows[i]]);
  }
  for (const auto& [column, cells] : data.shown) {
    std::vector<double>& chosen = out.shown[column];
    for (const size_t row : rows) chosen.push_back(cells[row]);
  }
  out.scaled = data.scaled;
  for (const auto& [column, missing] : data.imputed) {
    std::vector<bool>& chosen = out.imputed[column];
    for (const size_t row : rows) chosen.push_back(missing[row]);
  }
  return out;
}

Table to_table(const Dataset& data) {
  Table out;
  out.source = data.source;
  out.part = data.part;
  out.item_shape = data.item_shape;
  out.ids = data.ids;
  out.id_name = data.id_name;
  for (const auto& name : data.feature_names) out.columns.push_back({name});
  const bool labelled = !data.labels.empty();
  if (labelled) {
    out.label = out.columns.size();
    const auto kind = data.class_names.empty() ? ColumnKind::numeric : ColumnKind::categorical;
    out.columns.push_back({data.label_name, kind, data.class_names});
  }
  out.values = Matrix(data.rows(), out.columns.size());
  for (size_t i = 0; i < data.rows(); ++i) {
    const auto end = std::ranges::copy(data.x.row(i), out.values.row(i).begin()).out;
    if (labelled) *end = data.labels[i];
  }
  return out;
}

void require_complete(const Dataset& data) {
  for (size_t i = 0; i < data.rows(); ++i) {
    const auto row = data.x.row(i);
    const auto missing = std::ranges::find_if(row, [](float v) { return std::isnan(v); });
    if (missing == row.end()) continue;
    const auto column = static_cast<size_t>(missing - row.begin());
    fail_input(fmt::format("{}, row {}, column {}", data.source, i + 1, in_quotes(data.feature_names[column])),
               "a value", "a missing one (impute it, or use a model that accepts missing values)");
  }
}

}  // namespace assay

#include "assay/data/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "assay/core/error.h"
#include "assay/core/statistics.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kMostClasses = 20;  // a numeric label with more different values is a regression

std::vector<double> defined_values(const Table& table, size_t column) {
  std::vector<double> values;
  values.reserve(table.rows());
  for (size_t i = 0; i < table.rows(); ++i) {
    if (const float v = table.values(i, column); !std::isnan(v)) values.push_back(v);
  }
  return values;
}

// The most frequent value; of equally frequent ones the smallest.
double mode_of(const std::vector<double>& values) {
  std::map<double, size_t> counts;
  for (const double v : values) ++counts[v];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most->first;
}

double fill_of(const EncoderOptions& options, ColumnKind kind, std::vector<double>& values) {
  if (options.impute == "none") return kNothing;
  if (options.impute == "constant") return kind == ColumnKind::numeric ? options.constant : kNothing;
  if (values.empty()) return kNothing;
  if (kind == ColumnKind::categorical || options.impute == "mode") return mode_of(values);
  if (options.impute == "median") return quantile(values, 0.5);
  RunningMoments moments;
  for (const double v : values) moments.add(v);
  return moments.mean();
}

ColumnEncoding fit_numeric(const Column& column, std::vector<double>& values, size_t rows,
                           const EncoderOptions& options) {
  ColumnEncoding encoding{.name = column.name};
  encoding.fill = fill_of(options, ColumnKind::numeric, values);
  // Scales are those of the imputed column, which is what the model sees.
  RunningMoments moments;
  for (const double v : values) moments.add(v);
  if (!std::isnan(encoding.fill)) {
    for (size_t i = values.size(); i < rows; ++i) moments.add(encoding.fill);
    if (values.size() < rows) values.push_back(encoding.fill);
  }
  if (values.empty()) return encoding;
  if (options.scale == "standardise") {
    encoding.shift = moments.mean();
    const double deviation = std::sqrt(moments.variance() * static_cast<double>(moments.count() - 1) /
                                       static_cast<double>(moments.count()));
    // A constant column becomes 0, not NaN.
    if (deviation > 0) encoding.scale = deviation;
  } else if (options.scale == "min_max") {
    const auto [low, high] = std::ranges::minmax(values);
    encoding.shift = low;
    if (high > low) encoding.scale = high - low;
  }
  return encoding;
}

std::string text_of(float number) {
  std::string text;
  append_number(text, number);
  return text;
}

std::vector<std::string> sorted_class_names(const Table& table, size_t label, const EncoderOptions& options) {
  const Column& column = table.columns[label];
  if (column.kind == ColumnKind::categorical) {
    if (options.task == "regression") {
      fail_input(fmt::format("{}, label {}", table.source, in_quotes(column.name)), "numbers, for a regression", "categories");
    }
    return column.levels;
  }
  if (options.task == "regression") return {};
  std::set<float> different;
  for (size_t i = 0; i < table.rows(); ++i) {
    const float v = table.values(i, label);
    if (std::isnan(v)) continue;
    different.insert(v);
    const bool continuous = v != std::trunc(v) || different.size() > kMostClasses;
    if (continuous && options.task == "auto") return {};
  }
  std::vector<std::string> names;
  for (const float v : different) names.push_back(text_of(v));  // ascending by value
  return names;
}

}  // namespace

Encoder Encoder::fit(const Table& training, const EncoderOptions& options) {
  Encoder encoder;
  for (size_t j = 0; j < training.columns.size(); ++j) {
    const Column& column = training.columns[j];
    if (training.label == j) {
      encoder.label_ = column.name;
      encoder.class_names_ = sorted_class_names(training, j, options);
      continue;
    }
    auto values = defined_values(training, j);
    const bool any_missing = values.size() < training.rows();
    if (values.empty() && any_missing && options.impute != "none" && options.impute != "constant") {
      fail_input(fmt::format("{}, column {}", training.source, in_quotes(column.name)),
                 fmt::format("a value to take the {} of", options.impute), "none, every cell is missing");
    }
    if (column.kind == ColumnKind::numeric) {
      encoder.columns_.push_back(fit_numeric(column, values, training.rows(), options));
      continue;
    }
    ColumnEncoding encoding{.name = column.name, .kind = ColumnKind::categorical, .levels = column.levels};
    encoding.one_hot = options.categorical == "one_hot";
    encoding.fill = fill_of(options, ColumnKind::categorical, values);
    encoding.missing_level = options.missing_level && any_missing && std::isnan(encoding.fill);
    encoder.columns_.push_back(std::move(encoding));
  }
  // Columns beside the pixels would make the shape of a row a lie.
  const size_t pixels = std::accumulate(training.item_shape.begin(), training.item_shape.end(), size_t{1}, std::multiplies<>());
  if (pixels == encoder.feature_names().size()) encoder.item_shape_ = training.item_shape;
  return encoder;
}

std::vector<std::string> Encoder::feature_names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) {
    if (!column.one_hot) {
      names.push_back(column.name);
      continue;
    }
    if (column.missing_level) names.push_back(column.name + "=missing");
    for (const auto& level : column.levels) names.push_back(column.name + "=" + level);
  }
  return names;
}

std::vector<float> Encoder::zero_row() const {
  std::vector<float> row;
  for (const auto& column : columns_) {
    if (column.one_hot) {
      row.insert(row.end(), column.levels.size() + (column.missing_level ? 1 : 0), 0.0f);
    } else if (column.kind == ColumnKind::categorical) {
      row.push_back(0);
    } else {
      row.push_back(static_cast<float>((0 - column.shift) / column.scale));
    }
  }
  return row;
}

Dataset Encoder::apply(const Table& table) const {
  Dataset out;
  out.source = table.source;
  out.ids = table.ids;
  out.item_shape = item_shape_;
  out.feature_names = feature_names();
  out.x = Matrix(table.rows(), out.feature_names.size());
  const auto names = column_names(table);
  size_t to = 0;
  for (const auto& encoding : columns_) {
    const auto found = std::ranges::find(names, encoding.name);
    if (found == names.end()) {
      fail_input(fmt::format("{}: there is no column {}, which the model needs{}", table.source, in_quotes(encoding.name),
                             suggestion(encoding.name, names)));
    }
    FeatureGroup group{encoding.name, to, 1, encoding.kind, encoding.levels};
    if (encoding.missing_level) group.levels.insert(group.levels.begin(), "missing");
    if (encoding.one_hot) group.count = group.levels.size();
    encode_column(encoding, table, static_cast<size_t>(found - names.begin()), out, to);
    to += group.count;
    out.groups.push_back(std::move(group));
  }
  encode_labels(table, out);
  return out;
}

void Encoder::encode_column(const ColumnEncoding& encoding, const Table& table, size_t from, Dataset& out,
                            size_t to) const {
  const Column& column = table.columns[from];
  const auto where = [&](size_t row) {
    return fmt::format("{}, row {}, column {}", table.source, row + 1, in_quotes(column.name));
  };
  if (encoding.kind == ColumnKind::numeric) {
    if (column.kind != ColumnKind::numeric) {
      const auto text = [&](size_t i) { return !std::isnan(table.values(i, from)); };
      for (size_t i = 0; i < table.rows(); ++i) {
        if (text(i)) fail_input(where(i), "a number", in_quotes(column.levels[static_cast<size_t>(table.values(i, from))]));
      }
    }
    for (size_t i = 0; i < table.rows(); ++i) {
      double value = table.values(i, from);
      if (std::isnan(value)) value = encoding.fill;
      out.x(i, to) = static_cast<float>((value - encoding.shift) / encoding.scale);
    }
    return;
  }

  // The code here of a code there (or of a number there, when a short file made the column look numeric).
  std::map<float, float> codes;
  const float first = encoding.missing_level ? 1.0f : 0.0f;
  for (size_t i = 0; i < table.rows(); ++i) {
    const float value = table.values(i, from);
    float code = std::isnan(encoding.fill) ? (encoding.missing_level ? 0.0f : kMissing)
                                           : static_cast<float>(encoding.fill) + first;
    if (!std::isnan(value)) {
      const auto [known, fresh] = codes.try_emplace(value, 0.0f);
      if (fresh) {
        const std::string text =
            column.kind == ColumnKind::categorical ? column.levels[static_cast<size_t>(value)] : text_of(value);
        const auto level = std::ranges::find(encoding.levels, text);
        if (level == encoding.levels.end()) {
          fail_input(where(i), "one of the categories of the training rows",
                     in_quotes(text) + suggestion(text, encoding.levels));
        }
        known->second = static_cast<float>(level - encoding.levels.begin()) + first;
      }
      code = known->second;
    }
    if (!encoding.one_hot) {
      out.x(i, to) = code;
    } else if (std::isnan(code)) {
      const size_t width = encoding.levels.size() + (encoding.missing_level ? 1 : 0);
      std::ranges::fill(out.x.row(i).subspan(to, width), kMissing);
    } else {
      out.x(i, to + static_cast<size_t>(code)) = 1;
    }
  }
}

void Encoder::encode_labels(const Table& table, Dataset& out) const {
  if (label_.empty()) return;
  const auto names = column_names(table);
  const auto found = std::ranges::find(names, label_);
  if (found == names.end()) return;
  const auto from = static_cast<size_t>(found - names.begin());
  const Column& column = table.columns[from];
  out.label_name = label_;
  out.class_names = class_names_;
  out.labels.resize(table.rows());
  for (size_t i = 0; i < table.rows(); ++i) {
    const float value = table.values(i, from);
    out.labels[i] = value;
    if (std::isnan(value)) continue;
    const bool text = column.kind == ColumnKind::categorical;
    if (class_names_.empty() && !text) continue;
    const std::string name = text ? column.levels[static_cast<size_t>(value)] : text_of(value);
    const auto match = std::ranges::find(class_names_, name);
    if (match == class_names_.end()) {
      fail_input(fmt::format("{}, row {}, label {}", table.source, i + 1, in_quotes(label_)),
                 class_names_.empty() ? "a number" : "one of the classes of the training rows", in_quotes(name));
    }
    out.labels[i] = static_cast<float>(match - class_names_.begin());
  }
}

}  // namespace assay

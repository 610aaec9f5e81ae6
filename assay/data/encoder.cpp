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
constexpr size_t kMostClasses = 20;  // a numeric label with more different values is a regression

// An infinity would make the mean, and so every cell of its column, undefined.
void require_finite(const Table& table, size_t column, const std::vector<double>& values) {
  if (std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) return;
  for (size_t i = 0; i < table.rows(); ++i) {
    const float v = table.values(i, column);
    if (!std::isinf(v)) continue;
    fail_input(fmt::format("{}, row {}, column {}", table.source, i + 1, in_quotes(table.columns[column].name)),
               "a finite number to scale or impute with", fmt::format("{}", v));
  }
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
    const double deviation =
        std::sqrt(moments.variance() * static_cast<double>(moments.count() - 1) / static_cast<double>(moments.count()));
    // A constant column becomes 0, not NaN.
    if (deviation > 0) encoding.scale = deviation;
  } else if (options.scale == "min_max") {
    const auto [low, high] = std::ranges::minmax(values);
    encoding.shift = low;
    if (high > low) encoding.scale = high - low;
  }
  return encoding;
}

// The levels that occur in these rows: a level that only other rows have is not known to what is fitted here.
std::vector<std::string> occurring_levels(const Table& table, size_t column) {
  const auto& levels = table.columns[column].levels;
  std::vector<bool> occurs(levels.size());
  for (size_t i = 0; i < table.rows(); ++i) {
    if (const float code = table.values(i, column); !std::isnan(code)) occurs[static_cast<size_t>(code)] = true;
  }
  std::vector<std::string> out;
  for (size_t code = 0; code < levels.size(); ++code) {
    if (occurs[code]) out.push_back(levels[code]);
  }
  return out;
}

std::vector<std::string> sorted_class_names(const Table& table, size_t label, const EncoderOptions& options) {
  const Column& column = table.columns[label];
  if (column.kind == ColumnKind::categorical) {
    if (options.task == "regression") {
      fail_input(fmt::format("{}, label {}", table.source, in_quotes(column.name)), "numbers, for a regression",
                 "categories");
    }
    return occurring_levels(table, label);
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
  for (const float v : different) names.push_back(number_text(v));  // ascending by value
  return names;
}

}  // namespace

EncoderOptions encoder_options(std::string_view option, const std::string& encode) {
  Spec spec = parse_spec(option, encode);
  if (std::ranges::any_of(spec.options, [](const auto& each) { return each.first == "categorical"; })) {
    fail_input(option, "label or one_hot as the name alone", "an option categorical too");
  }
  spec.options.emplace_back("categorical", spec.name);
  spec.name = fmt::format("{} {}", option, spec.name);
  return options_from<EncoderOptions>(spec);
}

Encoder Encoder::fit(const Table& training, const EncoderOptions& options) {
  Encoder encoder;
  for (size_t j = 0; j < training.columns.size(); ++j) {
    const Column& column = training.columns[j];
    if (training.label == j) {
      encoder.label_ = column.name;
      encoder.class_names_ = sorted_class_names(training, j, options);
      continue;
    }
    // Wide tables of plain numbers (images) need no statistics at all.
    const bool plain = options.scale == "none" && options.impute == "none" && column.kind == ColumnKind::numeric;
    if (plain) {
      encoder.columns_.push_back({.name = column.name, .fill = kNothing});
      continue;
    }
    auto values = defined_values(training.values, j);
    require_finite(training, j, values);
    const bool any_missing = values.size() < training.rows();
    if (values.empty() && any_missing && options.impute != "none" && options.impute != "constant") {
      fail_input(fmt::format("{}, column {}", training.source, in_quotes(column.name)),
                 fmt::format("a value to take the {} of", options.impute), "none, every cell is missing");
    }
    if (column.kind == ColumnKind::numeric) {
      encoder.columns_.push_back(fit_numeric(column, values, training.rows(), options));
      continue;
    }
    ColumnEncoding encoding{.name = column.name, .kind = ColumnKind::categorical};
    encoding.levels = occurring_levels(training, j);
    encoding.one_hot = options.categorical == "one_hot";
    encoding.fill = fill_of(options, ColumnKind::categorical, values);
    if (!std::isnan(encoding.fill)) {
      // From a code of the table to a code of the levels that occur.
      const auto& filler = column.levels[static_cast<size_t>(encoding.fill)];
      encoding.fill = static_cast<double>(std::ranges::find(encoding.levels, filler) - encoding.levels.begin());
    }
    encoding.missing_level = options.missing_level && any_missing && std::isnan(encoding.fill);
    if (encoding.one_hot && encoding.levels.empty() && !encoding.missing_level) {
      fail_input(fmt::format("{}, column {}", training.source, in_quotes(column.name)),
                 "a category to make a column of", "none, every cell is missing");
    }
    encoder.columns_.push_back(std::move(encoding));
  }
  const auto names = encoder.feature_names();
  std::set<std::string> different;
  for (const auto& name : names) {
    if (!different.insert(name).second) {
      fail_input(training.source, "features with different names once encoded", in_quotes(name) + " twice");
    }
  }
  // Columns beside the pixels would make the shape of a row a lie.
  const size_t pixels =
      std::accumulate(training.item_shape.begin(), training.item_shape.end(), size_t{1}, std::multiplies<>());
  if (pixels == names.size()) encoder.item_shape_ = training.item_shape;
  return encoder;
}

std::vector<std::string> ColumnEncoding::all_levels() const {
  if (!missing_level) return levels;
  // A level of that name of the file's own keeps it.
  const bool taken = std::ranges::find(levels, "missing") != levels.end();
  std::vector<std::string> all = {taken ? "(missing)" : "missing"};
  all.insert(all.end(), levels.begin(), levels.end());
  return all;
}

std::vector<std::string> Encoder::feature_names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) {
    if (!column.one_hot) {
      names.push_back(column.name);
      continue;
    }
    for (const auto& level : column.all_levels()) names.push_back(column.name + "=" + level);
  }
  return names;
}

std::vector<float> Encoder::zero_row() const {
  std::vector<float> row;
  for (const auto& column : columns_) {
    if (column.one_hot) {
      row.insert(row.end(), column.all_levels().size(), 0.0f);
    } else if (column.kind == ColumnKind::categorical) {
      row.push_back(0);
    } else {
      row.push_back(static_cast<float>((0 - column.shift) / column.scale));
    }
  }
  return row;
}

}  // namespace assay

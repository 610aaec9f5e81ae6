#include "assay/model/graph_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/number.h"
#include "assay/data/known_levels.h"
#include "assay/data/lost_digits.h"
#include "assay/data/text_cells.h"
#include "assay/model/metadata.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

// " ('many' in row 3)" for the cell that makes a column text.
std::string for_example(const Table& table, size_t column) {
  const auto cell = first_text_cell(table, column);
  return cell ? fmt::format(" ({} in row {})", in_quotes(cell->text), cell->row + 1) : "";
}

RowInput row_input(const Graph& graph, const OnnxValue& input, std::optional<size_t> features) {
  const auto refuse = [&](const std::string& reason) {
    fail_input(fmt::format("{}: input {} {}", graph.name(), in_quotes(input.name), reason));
  };
  if (input.type.kind != OnnxValueKind::tensor) refuse("is not a tensor; rows cannot fill it");
  RowInput row;
  row.value = input.name;
  row.type = stored_element(input.type.element);
  if (row.type == OnnxElement::undefined) {
    refuse(fmt::format("is of type {}, which rows cannot fill", onnx_type_name(input.type.element)));
  }
  if (!input.type.dims) refuse("does not say how many dimensions it has");
  const std::vector<OnnxDimension>& dims = *input.type.dims;
  if (dims.empty()) refuse("has no dimensions; the first must be the row");
  int64_t count = 1;
  for (size_t d = 1; d < dims.size(); d++) {
    std::optional<int64_t> size = dims[d].size;
    const bool open = !size && dims.size() == 2 && graph.inputs().size() == 1 && features;
    if (open) size = static_cast<int64_t>(*features);
    if (!size) refuse(fmt::format("leaves the size of dimension {} open", d + 1));
    if (*size <= 0 || *size > kMostFeatures / count) refuse(fmt::format("has {} in dimension {}", *size, d + 1));
    count *= *size;
    row.row_shape.push_back(*size);
  }
  row.columns = static_cast<size_t>(count);
  return row;
}

// The first few, for messages.
std::string some_of(const std::vector<std::string>& levels) {
  constexpr size_t kMost = 8;
  std::vector<std::string> quoted;
  for (size_t i = 0; i < std::min(levels.size(), kMost); i++) quoted.push_back(in_quotes(levels[i]));
  if (levels.size() > kMost) quoted.push_back(fmt::format("{} others", levels.size() - kMost));
  return joined(quoted);
}

// Categories of numeric features, as the file's metadata tells them: {"3": ["red", "blue"], "5": []}.
void read_categories(const Graph& graph, GraphInputs& inputs) {
  const std::string* found = find_metadata(graph.metadata(), kCategoriesKey);
  if (found == nullptr) return;
  const auto refuse = [&] {
    fail_input(fmt::format("{}: its metadata {} must be a JSON object of lists of texts by the number of a feature",
                           graph.name(), in_quotes(kCategoriesKey)));
  };
  const auto json = nlohmann::json::parse(*found, nullptr, false);
  if (!json.is_object()) refuse();
  for (const auto& [key, texts] : json.items()) {
    size_t feature = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), feature);
    const bool number = error == std::errc() && end == key.data() + key.size() && feature < inputs.levels.size();
    const auto is_text = [](const auto& each) { return each.is_string(); };
    if (!number || !texts.is_array() || !std::ranges::all_of(texts, is_text)) refuse();
    if (inputs.is_text[feature]) continue;
    inputs.is_category[feature] = true;
    inputs.levels[feature] = texts.template get<std::vector<std::string>>();
  }
}

struct Source {
  std::vector<size_t> columns;  // of the table, one for each feature
};

// A name as LightGBM writes it.
std::string underscored(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

Source by_name(const GraphInputs& inputs, const ModelInfo& info, const Table& table) {
  std::vector<std::string> names = column_names(table);
  // Not where two columns would be one.
  if (inputs.underscored) {
    std::map<std::string, size_t> count;
    for (const std::string& name : names) count[underscored(name)]++;
    for (std::string& name : names) {
      if (count[underscored(name)] == 1) name = underscored(name);
    }
  }
  Source source;
  for (const std::string& feature : inputs.feature_names) {
    const auto found = std::find(names.begin(), names.end(), feature);
    if (found == names.end()) {
      fail_input(fmt::format("{}: column {} is missing, which {} takes{}", table.source, in_quotes(feature), info.name,
                             suggestion(feature, names)));
    }
    source.columns.push_back(static_cast<size_t>(found - names.begin()));
  }
  return source;
}

// The columns in the order of the names that a library makes up for features without names, where the table has exactly
// these: a file of rows that was written with them may have them in any order.
void order_by_generated_names(const GraphInputs& inputs, const Table& table, std::vector<size_t>& columns) {
  const size_t features = inputs.feature_names.size();
  if (inputs.generated.empty() || columns.size() != features) return;
  std::unordered_map<std::string, size_t> places;
  for (const size_t c : columns) places.emplace(table.columns[c].name, c);
  std::vector<size_t> ordered;
  for (size_t f = 0; f < features; f++) {
    const auto found = places.find(fmt::format("{}{}", inputs.generated, f));
    if (found == places.end()) return;
    ordered.push_back(found->second);
  }
  columns = std::move(ordered);
}

Source by_position(const GraphInputs& inputs, const ModelInfo& info, const Table& table) {
  Source source;
  for (size_t c = 0; c < table.columns.size(); c++) {
    if (table.label != c) source.columns.push_back(c);
  }
  if (source.columns.size() != inputs.feature_names.size()) {
    fail_input(fmt::format("{}: {} takes {} features, found {} column{}{}", table.source, info.name,
                           inputs.feature_names.size(), source.columns.size(), source.columns.size() == 1 ? "" : "s",
                           table.label ? " beside the label" : ""));
  }
  order_by_generated_names(inputs, table, source.columns);
  return source;
}

// Columns of truth values, as pandas writes them, are numbers for the libraries that models come from.
bool is_truth(const Column& column) {
  return std::ranges::all_of(column.levels, [](const std::string& level) { return truth_of(level).has_value(); });
}
void number_truth(const Column& column, size_t f, Dataset& data) {
  for (size_t r = 0; r < data.x.rows(); r++) {
    float& value = data.x(r, f);
    if (!std::isnan(value)) value = *truth_of(column.levels[static_cast<size_t>(value)]) ? 1 : 0;
  }
}

// Replaces the cells of feature f by the positions of their categories, all of which the model knows.
void code_categories(const GraphInputs& inputs, const ModelInfo& info, const Table& table, size_t from, size_t f,
                     Dataset& data) {
  const KnownLevels levels(inputs.levels[f]);
  levels.check(table, from);
  const Column& column = table.columns[from];
  for (size_t r = 0; r < table.rows(); r++) {
    float& value = data.x(r, f);
    if (std::isnan(value)) continue;
    const std::optional<size_t> found = levels.find(column, value);
    if (!found) {
      fail_input(fmt::format("{}: row {}: column {} holds {}, which is no category that {} knows; it knows {}",
                             table.source, r + 1, in_quotes(column.name), in_quotes(KnownLevels::text(column, value)),
                             info.name, some_of(inputs.levels[f])));
    }
    value = static_cast<float>(*found);
  }
}

// Replaces the cells of the text feature f by the codes of their texts.
void code_texts(TextCodes& texts, const Table& table, const Column& column, size_t f, Dataset& data) {
  const auto code_of = [&](const std::string& text) { return texts.code(f, text); };
  // In the order of the column's levels, whatever rows come first.
  if (column.kind == ColumnKind::categorical) std::ranges::for_each(column.levels, code_of);
  for (size_t r = 0; r < table.rows(); r++) {
    float& value = data.x(r, f);
    if (!std::isnan(value)) value = code_of(KnownLevels::text(column, value));
  }
}

// The cells of feature f as the numbers that stand for them.
void set_stand_ins(const DoubleCells& cells, const std::vector<double>& doubles, const ModelInfo& info,
                   const Table& table, const std::string& column, size_t f, Dataset& data) {
  for (size_t r = 0; r < data.x.rows(); r++) {
    float& value = data.x(r, f);
    const std::optional<float> found = cells.stand_in(f, doubles[r], value);
    if (!found) {
      fail_input(
          fmt::format("{}: row {}: column {}: {} ({}); take a number from the column that makes its cells "
                      "smaller, and train the model again",
                      table.source, r + 1, in_quotes(column), cells.why_none(f, doubles[r]), info.name));
    }
    value = *found;
  }
}

// The first operator whose result jumps where its input passes a number.
std::string first_step(const Graph& graph) {
  constexpr std::array<std::string_view, 3> kSteps = {"Equal", "Greater", "Less"};
  for (const GraphNode& node : graph.nodes()) {
    if (std::ranges::find(kSteps, node.onnx.op_type) != kSteps.end()) return node.onnx.op_type;
  }
  return {};
}

}  // namespace

void note_lost_digits(const std::string& model, const std::vector<bool>& is_double, std::string_view step,
                      Dataset& data) {
  bool fractions = false;
  for (size_t f = 0; f < data.x.cols(); f++) {
    if (!is_double[f]) continue;
    bool fraction = false;
    for (size_t r = 0; r < data.rows() && !fraction; r++) {
      const float cell = data.x(r, f);
      fraction = std::isfinite(cell) && cell != std::trunc(cell);
    }
    fractions = fractions || fraction;
    if (!fraction) continue;
    const LostDigits lost = lost_digits(data.x.view(), f);
    if (!lost.worth_telling) continue;
    data.notes.push_back(fmt::format(
        "column {} of {} lies near {:.6g} and spreads over {:.3g}: its cells are rounded by up to {:.1g}, and {} takes "
        "doubles",
        in_quotes(data.feature_names[f]), data.source, lost.size, lost.spread, lost.rounding, model));
  }
  if (!fractions || step.empty()) return;
  data.notes.push_back(fmt::format(
      "{} takes doubles and has the operator {}: cells of {} are rounded to float32, and one that lies at a threshold "
      "may be taken for one beyond it",
      model, step, data.source));
}

bool names_column(const GraphInputs& inputs, const std::string& name) {
  std::string written = name;
  if (inputs.underscored) std::ranges::replace(written, ' ', '_');
  return std::ranges::any_of(inputs.feature_names,
                             [&](const std::string& feature) { return feature == name || feature == written; });
}

GraphInputs find_inputs(const Graph& graph, std::vector<std::string> names, std::optional<size_t> features) {
  GraphInputs result;
  if (graph.inputs().empty()) fail_input(fmt::format("{}: the graph has no inputs", graph.name()));
  if (!names.empty()) features = names.size();
  size_t total = 0;
  for (size_t i = 0; i < graph.inputs().size(); i++) {
    const OnnxValue& input = graph.inputs()[i];
    RowInput row = row_input(graph, input, features);
    row.first_column = total;
    total += row.columns;
    if (total > static_cast<size_t>(kMostFeatures))
      fail_input(fmt::format("{}: more than {} features", graph.name(), kMostFeatures));
    const auto batch = static_cast<size_t>((*input.type.dims)[0].size.value_or(0));
    if (i > 0 && batch != result.fixed_batch) {
      // One input with a batch of its own size decides for all.
      result.fixed_batch = std::max(batch, result.fixed_batch);
    } else {
      result.fixed_batch = batch;
    }
    result.is_text.insert(result.is_text.end(), row.columns, row.type == OnnxElement::string);
    result.is_float.insert(result.is_float.end(), row.columns, row.type == OnnxElement::float32);
    result.is_double.insert(result.is_double.end(), row.columns, row.type == OnnxElement::float64);
    result.inputs.push_back(std::move(row));
  }
  result.step = first_step(graph);
  result.levels.resize(total);
  result.is_category.resize(total, false);
  read_categories(graph, result);
  result.named = !names.empty() || result.inputs.size() > 1;
  result.underscored = graph.producer().starts_with("LightGBM");
  if (result.underscored) result.generated = "Column_";
  if (graph.producer().starts_with("XGBoost")) result.generated = "f";
  if (!names.empty() && names.size() != total) {
    fail_input(
        fmt::format("{}: its metadata names {} features, its inputs take {}", graph.name(), names.size(), total));
  }
  if (!names.empty()) {
    result.feature_names = std::move(names);
    return result;
  }
  for (const RowInput& row : result.inputs) {
    if (row.columns == 1) {
      result.feature_names.push_back(row.value);
      continue;
    }
    for (size_t c = 0; c < row.columns; c++) result.feature_names.push_back(fmt::format("{}.{}", row.value, c));
  }
  return result;
}

Dataset gather_features(const GraphInputs& inputs, const ModelInfo& info, const Table& table, const DoubleCells* cells,
                        const KeptDoubles* doubles) {
  const Source source = inputs.named ? by_name(inputs, info, table) : by_position(inputs, info, table);
  Dataset data;
  data.source = table.source;
  data.part = table.part;
  data.id_name = table.id_name;
  data.ids = table.ids;
  data.x = Matrix(table.rows(), source.columns.size());
  if (!inputs.named && element_count(Shape(table.item_shape.begin(), table.item_shape.end())) == data.x.cols()) {
    data.item_shape = table.item_shape;
  }
  // Row by row, as both are stored; texts get their codes below.
  for (size_t r = 0; r < table.rows(); r++) {
    const auto from = table.values.row(r);
    const auto to = data.x.row(r);
    for (size_t f = 0; f < source.columns.size(); f++) to[f] = from[source.columns[f]];
  }
  for (size_t f = 0; f < source.columns.size(); f++) {
    const Column& column = table.columns[source.columns[f]];
    const bool known_levels = inputs.is_category[f] && !inputs.levels[f].empty();
    const bool text_for_numbers = column.kind == ColumnKind::categorical && !inputs.is_text[f] && !known_levels;
    std::vector<std::string> words = column.words_of_truth;
    if (text_for_numbers && is_truth(column)) {
      number_truth(column, f, data);
      words = truth_words(column.levels);
    } else if (text_for_numbers) {
      fail_input(fmt::format("{}: column {} is text{}; {} takes numbers there", table.source, in_quotes(column.name),
                             for_example(table, source.columns[f]), info.name));
    }
    if (column.rounded > 0 && !inputs.is_float[f]) {
      fail_input(fmt::format("{}: column {} holds numbers beyond 2^24, which tables round; {} takes them exactly",
                             table.source, in_quotes(column.name), info.name));
    }
    if (known_levels) {
      code_categories(inputs, info, table, source.columns[f], f, data);
    } else if (inputs.is_text[f]) {
      code_texts(*inputs.texts, table, column, f, data);
    } else if (doubles != nullptr && column.kind == ColumnKind::numeric) {
      const std::vector<double>* found = doubles->find(column.name);
      if (found != nullptr) {
        if (cells != nullptr) set_stand_ins(*cells, *found, info, table, column.name, f, data);
        data.shown[f] = *found;
      }
    }
    const std::string& name = inputs.named ? inputs.feature_names[f] : column.name;
    data.feature_names.push_back(name);
    const bool categorical = inputs.is_text[f] || inputs.is_category[f];
    data.groups.push_back({name, f, 1, categorical ? ColumnKind::categorical : ColumnKind::numeric,
                           inputs.is_text[f] ? inputs.texts->texts(f) : inputs.levels[f],
                           categorical ? std::vector<std::string>() : std::move(words)});
  }
  // Trees of doubles find their leaves by the doubles themselves.
  if (cells == nullptr) note_lost_digits(info.name, inputs.is_double, inputs.step, data);
  gather_labels(info, table, data);
  return data;
}

void gather_labels(const ModelInfo& info, const Table& table, Dataset& data) {
  if (!table.label) return;
  const Column& column = table.columns[*table.label];
  data.label_name = column.name;
  data.class_names = info.class_names;
  data.labels.resize(table.rows());
  KnownLevels(info.class_names).check(table, *table.label);
  const auto class_of = [&](const std::string& text) {
    const auto found = std::find(info.class_names.begin(), info.class_names.end(), text);
    if (found == info.class_names.end()) {
      fail_input(fmt::format("{}: column {} holds the class {}, which {} does not have; it has {}", table.source,
                             in_quotes(column.name), in_quotes(text), info.name, joined(info.class_names)));
    }
    return static_cast<float>(found - info.class_names.begin());
  };
  // Labels in other words than the model's (its file may know no names) are no labels for it.
  const auto known = [&](const std::string& text) {
    return std::find(info.class_names.begin(), info.class_names.end(), text) != info.class_names.end();
  };
  if (column.kind == ColumnKind::categorical && !info.class_names.empty() &&
      std::none_of(column.levels.begin(), column.levels.end(), known)) {
    data.labels.clear();
    return;
  }
  for (size_t r = 0; r < table.rows(); r++) {
    const float value = table.values(r, *table.label);
    if (std::isnan(value) || info.class_names.empty()) {
      if (column.kind == ColumnKind::categorical && !std::isnan(value)) {
        fail_input(fmt::format("{}: column {} is text{}; the model {} predicts numbers", table.source,
                               in_quotes(column.name), for_example(table, *table.label), info.name));
      }
      data.labels[r] = value;
    } else {
      data.labels[r] = class_of(column.kind == ColumnKind::categorical ? column.levels[static_cast<size_t>(value)]
                                                                       : number_text(value));
    }
  }
}

}  // namespace assay

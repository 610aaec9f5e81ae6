#include "assay/explain/io/explanations_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/json_depth.h"
#include "assay/data/io/number.h"
#include "assay/explain/io/explanations_meta.h"

namespace assay {
namespace {

using nlohmann::json;

// Written by hand, because the JSON library knows no float32: it would give 0.1 as 0.10000000149011612.
class Writer {
 public:
  explicit Writer(std::string_view where) : where_(where) {}

  std::string write(const Explanations& explanations) {
    out_ = "{\"meta\": ";
    out_ += explanations_meta_text(where_, explanations);
    out_ += ",\n \"features\": ";
    texts(explanations.features);
    out_ += ",\n \"target_names\": ";
    texts(explanations.target_names);
    if (!explanations.combination.measures.empty()) {
      std::vector<std::string> names;
      for (const RowMeasure& measure : explanations.combination.measures) names.push_back(measure.name);
      out_ += ",\n \"measure_names\": ";
      texts(names);
    }
    out_ += ",\n \"rows\": [";
    for (size_t i = 0; i < explanations.rows(); i++) {
      out_ += i > 0 ? ",\n  {" : "\n  {";
      row(explanations, i);
      out_ += '}';
    }
    out_ += "\n ]}";
    return std::move(out_);
  }

 private:
  void row(const Explanations& explanations, size_t i) {
    if (!explanations.ids.empty()) {
      out_ += "\"id\": ";
      text(explanations.ids[i]);
      out_ += ", ";
    }
    out_ += "\"target\": ";
    if (explanations.target.empty()) {
      out_ += "null";
    } else {
      text(explanations.target_names[explanations.target[i]]);
    }
    out_ += ", \"output\": ";
    number(explanations.output[i]);
    out_ += ", \"base\": ";
    number(explanations.base[i]);
    out_ += ", \"gap\": ";
    number(explanations.gap[i]);
    numbers("values", explanations.values.row(i));
    if (!explanations.standard_error.empty()) numbers("stderr", explanations.standard_error.row(i));
    if (!explanations.background_error.empty()) numbers("background_stderr", explanations.background_error.row(i));
    if (!explanations.combination.members.empty()) combination(explanations.combination, i);
  }

  void combination(const Combination& made, size_t i) {
    if (!made.weights.empty()) numbers("weights", made.weights.row(i));
    if (!made.antecedents.empty()) {
      const auto own = std::span(made.antecedents).subspan(i * made.weights.cols(), made.weights.cols());
      fmt::format_to(std::back_inserter(out_), ", \"antecedents\": [{}]", fmt::join(own, ", "));
    }
    if (made.measures.empty()) return;
    out_ += ", \"measures\": [";
    for (const RowMeasure& measure : made.measures) {
      if (&measure != &made.measures[0]) out_ += ", ";
      number(measure.values[i]);
    }
    out_ += ']';
  }

  void numbers(std::string_view name, std::span<const float> values) {
    fmt::format_to(std::back_inserter(out_), ", \"{}\": [", name);
    for (size_t j = 0; j < values.size(); j++) {
      if (j > 0) out_ += ", ";
      if (std::isfinite(values[j])) {
        append_number(out_, values[j]);
      } else {
        out_ += "null";
      }
    }
    out_ += ']';
  }

  void number(double value) {
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(out_), "{}", value);
    } else {
      out_ += "null";
    }
  }

  void text(const std::string& text) {
    try {
      out_ += json(text).dump();
    } catch (const json::exception&) {
      fail_input(where_, "UTF-8 text in names", in_quotes(text));
    }
  }

  void texts(const std::vector<std::string>& list) {
    out_ += '[';
    for (size_t j = 0; j < list.size(); j++) {
      if (j > 0) out_ += ", ";
      text(list[j]);
    }
    out_ += ']';
  }

  std::string_view where_;
  std::string out_;
};

class Reader {
 public:
  Reader(std::string_view where, const json& document) : where_(where), document_(document) {}

  Explanations read() {
    if (!document_.is_object()) fail(where_, "an object with 'features' and 'rows'", document_);
    if (const auto meta = document_.find("meta"); meta != document_.end()) {
      read_explanations_meta(fmt::format("{}, 'meta'", where_), meta->dump(), out_);
    }
    out_.features = texts("features");
    if (document_.contains("target_names")) out_.target_names = texts("target_names");
    for (size_t t = 0; t < out_.target_names.size(); t++) {
      target_of_.emplace(out_.target_names[t], static_cast<uint32_t>(t));
    }
    const json& rows = list(where_, document_, "rows");
    if (rows.empty() || out_.features.empty()) {
      fail_input(where_, "at least one row and one feature",
                 fmt::format("{} rows and {} features", rows.size(), out_.features.size()));
    }
    check_widths(rows);
    out_.values = Matrix(rows.size(), out_.features.size());
    if (rows[0].contains("stderr")) out_.standard_error = Matrix(rows.size(), out_.features.size());
    if (rows[0].contains("background_stderr")) out_.background_error = Matrix(rows.size(), out_.features.size());
    for (size_t i = 0; i < rows.size(); i++) read_row(rows[i], i);
    if (!out_.combination.members.empty()) read_combination(rows);
    return std::move(out_);
  }

 private:
  [[noreturn]] static void fail(std::string_view where, std::string_view expected, const json& found) {
    fail_input(where, expected, in_quotes(found.dump(-1, ' ', false, json::error_handler_t::replace)));
  }
  static const json& member(std::string_view where, const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) fail_input(where, fmt::format("the key '{}'", key), "none");
    return *found;
  }
  static const json& list(std::string_view where, const json& object, const char* key) {
    const json& value = member(where, object, key);
    if (!value.is_array()) fail(where, fmt::format("a list as '{}'", key), value);
    return value;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for (const json& each : list(where_, document_, key)) {
      if (!each.is_string()) fail(where_, fmt::format("texts in '{}'", key), each);
      out.push_back(each.get<std::string>());
    }
    return out;
  }
  std::string row_where(size_t row) const { return fmt::format("{}, row {}", where_, row + 1); }

  // Before memory is taken for rows x features: a short file may name many of both.
  void check_widths(const json& rows) const {
    for (size_t i = 0; i < rows.size(); i++) {
      if (!rows[i].is_object()) fail(row_where(i), "an object", rows[i]);
      for (const char* key : {"values", "stderr", "background_stderr"}) {
        const bool wanted = key == std::string_view("values") || rows[0].contains(key);
        if (wanted != rows[i].contains(key)) {
          fail_input(row_where(i), fmt::format("'{}' in every row or in none", key), wanted ? "none" : "some");
        }
        if (!wanted) continue;
        if (const size_t count = list(row_where(i), rows[i], key).size(); count != out_.features.size()) {
          fail_input(row_where(i), fmt::format("{} '{}', one for each feature", out_.features.size(), key),
                     fmt::format("{}", count));
        }
      }
    }
  }

  double number(size_t row, const json& value, const char* key) const {
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_number()) fail(row_where(row), fmt::format("numbers or null as '{}'", key), value);
    return value.get<double>();
  }
  double optional_number(size_t row, const json& object, const char* key) const {
    const auto found = object.find(key);
    return found == object.end() ? std::numeric_limits<double>::quiet_NaN() : number(row, *found, key);
  }
  void numbers(size_t row, const json& object, const char* key, Matrix& out) const {
    const json& values = object[key];
    for (size_t j = 0; j < values.size(); j++) {
      const double value = number(row, values[j], key);
      out(row, j) = static_cast<float>(value);
      if (std::isfinite(value) && !std::isfinite(out(row, j))) {
        fail(row_where(row), "numbers within the range of float32 (3.4e38)", values[j]);
      }
    }
  }

  void read_row(const json& row, size_t i) {
    out_.output.push_back(optional_number(i, row, "output"));
    out_.base.push_back(optional_number(i, row, "base"));
    out_.gap.push_back(optional_number(i, row, "gap"));
    numbers(i, row, "values", out_.values);
    if (!out_.standard_error.empty()) numbers(i, row, "stderr", out_.standard_error);
    if (!out_.background_error.empty()) numbers(i, row, "background_stderr", out_.background_error);
    read_text(row, i, "id", out_.ids, [](std::string text) { return text; });
    read_text(row, i, "target", out_.target, [&](const std::string& name) {
      const auto found = target_of_.find(name);
      if (found == target_of_.end()) {
        fail_input(row_where(i), fmt::format("one of the {} 'target_names' as 'target'", target_of_.size()),
                   in_quotes(name));
      }
      return found->second;
    });
  }

  // The length of a list that every row has, of one length in all; 0 where none has it.
  size_t common_width(const json& rows, const char* key) const {
    if (!rows[0].contains(key)) {
      for (size_t i = 0; i < rows.size(); i++) {
        if (rows[i].contains(key)) fail_input(row_where(i), fmt::format("'{}' in every row or in none", key), "some");
      }
      return 0;
    }
    const size_t width = list(row_where(0), rows[0], key).size();
    for (size_t i = 0; i < rows.size(); i++) {
      const json& own = list(row_where(i), rows[i], key);
      if (own.size() != width || width == 0) {
        fail_input(row_where(i), fmt::format("'{}' of one length in all rows, not 0", key),
                   fmt::format("{}", own.size()));
      }
    }
    return width;
  }

  void read_combination(const json& rows) {
    Combination& made = out_.combination;
    if (const size_t width = common_width(rows, "weights"); width > 0) {
      made.weights = Matrix(rows.size(), width);
      for (size_t i = 0; i < rows.size(); i++) numbers(i, rows[i], "weights", made.weights);
    }
    if (const size_t width = common_width(rows, "antecedents"); width > 0) {
      if (width != made.weights.cols()) {
        fail_input(where_, fmt::format("{} 'antecedents' in a row, as many as 'weights'", made.weights.cols()),
                   fmt::format("{}", width));
      }
      for (size_t i = 0; i < rows.size(); i++) {
        for (const json& each : rows[i]["antecedents"]) {
          const double row = number(i, each, "antecedents");
          if (!(row >= -1 && row <= 0x1p53) || row != std::trunc(row)) {
            fail(row_where(i), "numbers of rows, or -1, as 'antecedents'", each);
          }
          made.antecedents.push_back(static_cast<int64_t>(row));
        }
      }
    }
    if (const size_t width = common_width(rows, "measures"); width > 0) {
      for (std::string& name : texts("measure_names")) made.measures.push_back({std::move(name), {}});
      if (made.measures.size() != width) {
        fail_input(where_, fmt::format("{} 'measure_names', one for each of the 'measures'", width),
                   fmt::format("{}", made.measures.size()));
      }
      for (size_t i = 0; i < rows.size(); i++) {
        for (size_t j = 0; j < width; j++) {
          made.measures[j].values.push_back(number(i, rows[i]["measures"][j], "measures"));
        }
      }
    }
  }

  // A text that every row has or none.
  template <class T, class Convert>
  void read_text(const json& row, size_t i, const char* key, std::vector<T>& out, const Convert& convert) const {
    const auto found = row.find(key);
    const bool there = found != row.end() && !found->is_null();
    if (there && !found->is_string()) fail(row_where(i), fmt::format("text as '{}'", key), *found);
    if (out.size() != (there ? i : 0)) {
      fail_input(row_where(i), fmt::format("'{}' in every row or in none", key), there ? "some" : "none");
    }
    if (there) out.push_back(convert(found->template get<std::string>()));
  }

  std::string_view where_;
  const json& document_;
  Explanations out_;
  std::unordered_map<std::string, uint32_t> target_of_;
};

}  // namespace

std::string explanations_json(std::string_view where, const Explanations& explanations) {
  return Writer(where).write(explanations);
}

Explanations explanations_from_json(std::string_view where, std::string_view text) {
  // Our own is 4 deep: the object, rows, a row, its values.
  limit_json_depth(where, text, 8);
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& problem) {
    fail_input(where, "JSON", fmt::format("an error at byte {}", problem.byte));
  } catch (const json::exception&) {
    fail_input(where, "JSON", "a number out of range");
  }
  return Reader(where, document).read();
}

}  // namespace assay

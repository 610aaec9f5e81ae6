#include "assay/archive/io/json_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/data/io/json_depth.h"
#include "assay/study/study.h"

namespace assay {
namespace {

Json table_json(const ScoreTable& table) {
  Json rows = Json::array();
  for (const std::vector<double>& row : table.rows) rows.push_back(numbers(row));
  Json made = {{"name", table.name}, {"columns", table.columns}, {"rows", rows}};
  if (!table.labels.empty()) made["labels"] = table.labels;
  return made;
}

}  // namespace

Json number(double value) {
  if (std::isnan(value)) return {};
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json numbers(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json interval_json(const Interval& interval) { return {number(interval.low), number(interval.high)}; }

Json options_json(const std::vector<std::pair<std::string, std::string>>& options) {
  Json made = Json::object();
  for (const auto& [name, value] : options) made[name] = value;
  return made;
}

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json made = Json::array();
  for (const auto& [name, value] : pairs) made.push_back(Json::array({name, value}));
  return made;
}

Json undefined_json(const std::vector<Undefined>& undefined) {
  Json made = Json::array();
  for (const Undefined& each : undefined) made.push_back({{"reason", each.reason}, {"rows", each.rows}});
  return made;
}

Json tables_json(const std::vector<ScoreTable>& tables) {
  Json made = Json::array();
  for (const ScoreTable& table : tables) made.push_back(table_json(table));
  return made;
}

Json curves_json(const std::vector<Curve>& curves) {
  Json made = Json::array();
  for (const Curve& curve : curves) {
    made.push_back({{"criterion", curve.criterion},
                    {"along", curve.along},
                    {"x", numbers(curve.x)},
                    {"mean", numbers(curve.mean)},
                    {"stderr", numbers(curve.error)},
                    {"coverage", numbers(curve.coverage)}});
  }
  return made;
}

Json variations_json(const std::vector<Variation>& variations) {
  Json made = Json::array();
  for (const Variation& variation : variations) {
    made.push_back({{"what", variation.what},
                    {"value", variation.value},
                    {"criteria", variation.criteria},
                    {"mean", numbers(variation.mean)}});
  }
  return made;
}

Json inputs_json(const std::vector<StudyInput>& inputs) {
  Json made = Json::array();
  for (const StudyInput& each : inputs) {
    const Json hash = each.sha256.empty() ? Json() : Json(each.sha256);
    made.push_back({{"role", each.role}, {"name", each.name}, {"sha256", hash}});
  }
  return made;
}

std::string texts_json(const std::vector<std::string>& texts) { return dumped(Json(texts)); }

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string dumped_lines(const Json& json) {
  std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace);
  text += '\n';
  return text;
}

std::string quoted_json(const JsonRead& value) {
  return in_quotes(value.dump(-1, ' ', false, JsonRead::error_handler_t::replace));
}

JsonRead parsed_json(std::string_view where, std::string_view text, size_t depth) {
  limit_json_depth(where, text, depth);
  try {
    return JsonRead::parse(text);
  } catch (const JsonRead::parse_error& problem) {
    fail_input(where, "JSON", fmt::format("an error at byte {}", problem.byte));
  } catch (const JsonRead::exception&) {
    fail_input(where, "JSON", "a number out of range");
  }
}

JsonFields::JsonFields(std::string where, const JsonRead& object) : where_(std::move(where)), object_(&object) {
  if (!object.is_object()) refuse("an object", "", object);
}

void JsonFields::fail(std::string_view expected, std::string_view found) const { fail_input(where_, expected, found); }

void JsonFields::refuse(std::string_view expected, const char* key, const JsonRead& found) const {
  fail(*key == '\0' ? std::string(expected) : fmt::format("{} as '{}'", expected, key), quoted_json(found));
}

const JsonRead& JsonFields::member(const char* key) const {
  const auto found = object_->find(key);
  if (found == object_->end()) fail(fmt::format("the key '{}'", key), "none");
  return *found;
}

const JsonRead& JsonFields::list(const char* key) const {
  const JsonRead& value = member(key);
  if (!value.is_array()) refuse("a list", key, value);
  return value;
}

bool JsonFields::has(const char* key) const { return object_->contains(key); }

bool JsonFields::has_value(const char* key) const {
  const auto found = object_->find(key);
  return found != object_->end() && !found->is_null();
}

std::string JsonFields::text(const char* key) const {
  const JsonRead& value = member(key);
  if (!value.is_string()) refuse("text", key, value);
  return value.get<std::string>();
}

size_t JsonFields::word(const char* key, const std::vector<std::string_view>& words) const {
  const std::string found = text(key);
  for (size_t i = 0; i < words.size(); i++) {
    if (found == words[i]) return i;
  }
  fail(fmt::format("{} as '{}'", joined({words.begin(), words.end()}, "or"), key), in_quotes(found));
}

std::vector<std::string> JsonFields::texts(const char* key) const {
  std::vector<std::string> out;
  for (const JsonRead& each : list(key)) {
    if (!each.is_string()) refuse("a list of texts", key, each);
    out.push_back(each.get<std::string>());
  }
  return out;
}

uint64_t JsonFields::count(const char* key) const {
  const JsonRead& value = member(key);
  if (!value.is_number_unsigned()) refuse("a whole number", key, value);
  return value.get<uint64_t>();
}

bool JsonFields::flag(const char* key) const {
  const JsonRead& value = member(key);
  if (!value.is_boolean()) refuse("true or false", key, value);
  return value.get<bool>();
}

double JsonFields::number_of(const char* key, const JsonRead& value) const {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  refuse("a number, null, \"Infinity\" or \"-Infinity\"", key, value);
}

double JsonFields::number(const char* key) const { return number_of(key, member(key)); }

std::vector<double> JsonFields::numbers(const char* key) const {
  std::vector<double> out;
  for (const JsonRead& each : list(key)) out.push_back(number_of(key, each));
  return out;
}

std::vector<double> JsonFields::numbers(const char* key, size_t length, std::string_view what) const {
  if (const size_t found = list(key).size(); found != length) {
    fail(fmt::format("{} numbers, {}, as '{}'", length, what, key), fmt::format("{}", found));
  }
  return numbers(key);
}

double JsonFields::share(const char* key) const {
  const double value = number(key);
  if (!(value >= 0 && value <= 1)) refuse("a number from 0 to 1", key, member(key));
  return value;
}

double JsonFields::error(const char* key) const {
  const double value = number(key);
  if (value < 0) refuse("a number that is not below 0, or null,", key, member(key));
  return value;
}

Interval JsonFields::interval(const char* key) const {
  const std::vector<double> ends = numbers(key, 2, "low and high");
  if (ends[0] > ends[1]) refuse("the lower end first", key, member(key));
  return {ends[0], ends[1]};
}

std::vector<std::vector<double>> JsonFields::rows(const char* key, size_t width) const {
  std::vector<std::vector<double>> out;
  for (const JsonRead& row : list(key)) {
    if (!row.is_array() || row.size() != width) refuse(fmt::format("lists of {} numbers", width), key, row);
    out.emplace_back();
    for (const JsonRead& each : row) out.back().push_back(number_of(key, each));
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> JsonFields::pairs(const char* key) const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const JsonRead& each : list(key)) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_string() || !each[1].is_string()) {
      refuse("lists of a name and a value, both text,", key, each);
    }
    out.emplace_back(each[0].get<std::string>(), each[1].get<std::string>());
  }
  return out;
}

std::string JsonFields::sha256(const char* key) const {
  std::string hash = text(key);
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hash.size() != 64 || !std::ranges::all_of(hash, digit)) {
    refuse("64 hexadecimal digits in lower case", key, member(key));
  }
  return hash;
}

std::vector<StudyInput> JsonFields::inputs(const char* key) const {
  std::vector<StudyInput> out;
  for (const JsonFields& each : objects(key)) {
    const bool hashed = !each.member("sha256").is_null();
    out.push_back({each.text("role"), each.text("name"), hashed ? each.sha256("sha256") : std::string()});
  }
  return out;
}

JsonFields JsonFields::object(const char* key) const { return {fmt::format("{}, '{}'", where_, key), member(key)}; }

std::vector<JsonFields> JsonFields::objects(const char* key) const {
  std::vector<JsonFields> out;
  for (const JsonRead& each : list(key))
    out.emplace_back(fmt::format("{}, '{}' {}", where_, key, out.size() + 1), each);
  return out;
}

void JsonFields::require_schema(std::string_view schema) const {
  if (const std::string found = text("schema"); found != schema) {
    fail(fmt::format("\"{}\" as 'schema'", schema), in_quotes(found));
  }
}

}  // namespace assay

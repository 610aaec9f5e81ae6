// Writes the parts of results that several JSON files share, and reads such files with checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/evaluate/scores.h"

namespace assay {

struct Curve;
struct StudyInput;
struct Variation;

using Json = nlohmann::ordered_json;

// NaN is null, infinities are the strings "Infinity" and "-Infinity".
Json number(double value);
Json numbers(std::span<const double> values);
Json interval_json(const Interval& interval);
Json options_json(const std::vector<std::pair<std::string, std::string>>& options);
// A list of [name, value], because the order of fields in an object may be lost.
Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs);
Json undefined_json(const std::vector<Undefined>& undefined);
Json tables_json(const std::vector<ScoreTable>& tables);
Json curves_json(const std::vector<Curve>& curves);
Json variations_json(const std::vector<Variation>& variations);
// Role, name and sha256; sha256 is null if the input has no hash.
Json inputs_json(const std::vector<StudyInput>& inputs);
// The text of a JSON list of strings.
std::string texts_json(const std::vector<std::string>& texts);
// On one line. Bytes that are not UTF-8 are replaced.
std::string dumped(const Json& json);
// The same over several lines, indented by one space, with a newline at the end.
std::string dumped_lines(const Json& json);

// For reading. Not ordered_json, which keeps keys in a list and takes quadratic time for many keys.
using JsonRead = nlohmann::json;

// The value as messages show it.
std::string quoted_json(const JsonRead& value);

// Throws an input error that starts with `where` if the text is not JSON or is nested deeper than `depth`.
JsonRead parsed_json(std::string_view where, std::string_view text, size_t depth);

// Reads the fields of a JSON object that is not trusted. A missing field or one of the wrong type is an input error
// that starts with `where`. The document must outlive this.
class JsonFields {
 public:
  JsonFields(std::string where, const JsonRead& object);

  const std::string& where() const { return where_; }
  std::string text(const char* key) const;
  // Reads a text that must be one of `words`; returns its index.
  size_t word(const char* key, const std::vector<std::string_view>& words) const;
  std::vector<std::string> texts(const char* key) const;
  uint64_t count(const char* key) const;
  bool flag(const char* key) const;
  // As number() writes them.
  double number(const char* key) const;
  std::vector<double> numbers(const char* key) const;
  // Exactly `length` numbers. what: for the message, "one for each x".
  std::vector<double> numbers(const char* key, size_t length, std::string_view what) const;
  // A number from 0 to 1.
  double share(const char* key) const;
  // A number of 0 or more, or NaN.
  double error(const char* key) const;
  // [low, high]; each may be undefined.
  Interval interval(const char* key) const;
  std::vector<std::vector<double>> rows(const char* key, size_t width) const;
  std::vector<std::pair<std::string, std::string>> pairs(const char* key) const;
  // 64 hexadecimal digits in lower case.
  std::string sha256(const char* key) const;
  // As inputs_json() writes them.
  std::vector<StudyInput> inputs(const char* key) const;
  JsonFields object(const char* key) const;
  std::vector<JsonFields> objects(const char* key) const;
  bool has(const char* key) const;
  bool has_value(const char* key) const;  // it is there, and not null

  // Refuses a document of another kind or version.
  void require_schema(std::string_view schema) const;
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const;

 private:
  const JsonRead& member(const char* key) const;
  const JsonRead& list(const char* key) const;
  [[noreturn]] void refuse(std::string_view expected, const char* key, const JsonRead& found) const;
  double number_of(const char* key, const JsonRead& value) const;

  std::string where_;
  const JsonRead* object_;
};

}  // namespace assay

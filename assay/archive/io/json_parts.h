// Parts of results as JSON, the same in every file that holds them, and a careful reader of such files.
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
Json options_json(const std::vector<std::pair<std::string, std::string>>& options);
// [name, value] for each, in their order, which an object need not keep.
Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs);
Json undefined_json(const std::vector<Undefined>& undefined);
Json tables_json(const std::vector<ScoreTable>& tables);
Json curves_json(const std::vector<Curve>& curves);
Json variations_json(const std::vector<Variation>& variations);
// Role, name, and sha256: null for what is no file.
Json inputs_json(const std::vector<StudyInput>& inputs);
// A list of texts, as JSON.
std::string texts_json(const std::vector<std::string>& texts);
// On one line; what is no UTF-8 is replaced.
std::string dumped(const Json& json);
// The same, a line for each item, indented by one space, with a newline at the end.
std::string dumped_lines(const Json& json);

// What is read: keys in a tree, because the list that keeps their order takes quadratic time for many of them.
using JsonRead = nlohmann::json;

// As messages show it.
std::string quoted_json(const JsonRead& value);

// An input error that starts with `where` for text that is no JSON, or more than `depth` deep.
JsonRead parsed_json(std::string_view where, std::string_view text, size_t depth);

// An object of a document from outside: every field that is asked for is there and is what it must be, or there is an
// input error that starts with where the object is. The document must outlive it.
class JsonFields {
 public:
  JsonFields(std::string where, const JsonRead& object);

  const std::string& where() const { return where_; }
  std::string text(const char* key) const;
  // A text that must be one of these: its index.
  size_t word(const char* key, const std::vector<std::string_view>& words) const;
  std::vector<std::string> texts(const char* key) const;
  uint64_t count(const char* key) const;
  bool flag(const char* key) const;
  // As number() writes them.
  double number(const char* key) const;
  std::vector<double> numbers(const char* key) const;
  // The same where there must be so many, `what` in words ("one for each x").
  std::vector<double> numbers(const char* key, size_t length, std::string_view what) const;
  // 0 to 1.
  double share(const char* key) const;
  // NaN, or 0 or more.
  double error(const char* key) const;
  // [low, high], of which any may be undefined.
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

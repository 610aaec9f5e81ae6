#include "assay/data/io/arrow_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/core/error.h"

namespace assay {

namespace {

// "d:19,10" has a precision of 19 digits, a scale of 10 and 128 bits; "d:19,10,64" says the bits.
struct DecimalFormat {
  int scale = 0;
  int bits = 128;
};

std::optional<DecimalFormat> decimal_format(std::string_view format) {
  if (!format.starts_with("d:")) return {};
  format.remove_prefix(2);
  std::array<int, 3> parts = {0, 0, 128};
  size_t count = 0;
  for (const char* at = format.data(); count < parts.size(); at++) {
    const char* const end = format.data() + format.size();
    const auto [stop, problem] = std::from_chars(at, end, parts[count]);
    if (problem != std::errc()) return {};
    count++;
    at = stop;
    if (at == end) break;
    if (*at != ',') return {};
  }
  constexpr int kMostDigits = 76;
  if (count < 2 || parts[1] < -kMostDigits || parts[1] > kMostDigits) return {};
  return DecimalFormat{parts[1], parts[2]};
}

}  // namespace

int arrow_scale(std::string_view format) {
  const auto decimal = decimal_format(format);
  return decimal ? decimal->scale : 0;
}

std::optional<ArrowValue> arrow_value(std::string_view format) {
  if (format == "vu") return ArrowValue::text_view;
  if (const auto decimal = decimal_format(format); decimal) {
    if (decimal->bits == 32) return ArrowValue::decimal32;
    if (decimal->bits == 64) return ArrowValue::decimal64;
    return decimal->bits == 128 ? std::optional(ArrowValue::decimal128) : std::nullopt;
  }
  if (format.size() != 1) return std::nullopt;
  switch (format[0]) {
    case 'n': return ArrowValue::null;
    case 'b': return ArrowValue::boolean;
    case 'c': return ArrowValue::int8;
    case 'C': return ArrowValue::uint8;
    case 's': return ArrowValue::int16;
    case 'S': return ArrowValue::uint16;
    case 'i': return ArrowValue::int32;
    case 'I': return ArrowValue::uint32;
    case 'l': return ArrowValue::int64;
    case 'L': return ArrowValue::uint64;
    case 'e': return ArrowValue::float16;
    case 'f': return ArrowValue::float32;
    case 'g': return ArrowValue::float64;
    case 'u': return ArrowValue::text;
    case 'U': return ArrowValue::large_text;
    default: return std::nullopt;
  }
}

std::string arrow_type_words(std::string_view format) {
  // Longer beginnings stand before the shorter ones that they start with.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 30> kWords{{
      {"td", "dates"},
      {"tt", "times of day"},
      {"ts", "timestamps"},
      {"tD", "durations"},
      {"ti", "calendar intervals"},
      {"d:", "decimal numbers of 256 bits"},
      {"w:", "fixed-size binary values"},
      {"vz", "binary values"},
      {"vu", "text"},
      {"z", "binary values"},
      {"Z", "binary values"},
      {"+l", "lists"},
      {"+L", "lists"},
      {"+vl", "lists"},
      {"+vL", "lists"},
      {"+w:", "lists of fixed size"},
      {"+s", "structs"},
      {"+m", "maps"},
      {"+u", "unions"},
      {"+r", "run-end encoded values"},
      {"n", "nulls"},
      {"b", "booleans"},
      {"e", "half-precision numbers"},
      {"f", "single-precision numbers"},
      {"g", "double-precision numbers"},
      {"u", "text"},
      {"U", "text"},
      {"c", "8-bit whole numbers"},
      {"i", "32-bit whole numbers"},
      {"l", "64-bit whole numbers"},
  }};
  for (const auto& [start, words] : kWords) {
    if (format.starts_with(start)) return std::string(words);
  }
  return "values of type " + in_quotes(format);
}

bool is_text(ArrowValue type) {
  return type == ArrowValue::text || type == ArrowValue::large_text || type == ArrowValue::text_view;
}

bool is_whole(ArrowValue type) { return type >= ArrowValue::int8 && type <= ArrowValue::uint64; }

int arrow_buffer_count(ArrowValue type) {
  if (type == ArrowValue::null) return 0;
  return is_text(type) ? 3 : 2;
}

std::string arrow_message(const char* message) {
  std::string line = message == nullptr ? "" : message;
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  constexpr size_t kLongest = 400;
  if (line.size() > kLongest) line = line.substr(0, kLongest) + "...";
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  while (line.ends_with('.') && !line.ends_with("...")) line.pop_back();
  return line.empty() ? "an error without a message" : line;
}

}  // namespace assay

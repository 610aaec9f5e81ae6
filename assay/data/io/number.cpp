#include "assay/data/io/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "assay/data/lost_digits.h"

namespace assay {
namespace {

constexpr float kExactIntegers = 16777216.0f;  // 2^24

// The power of ten of the first digit that is not 0, of text that is known to be a number: 2 for 123, -3 for 0.00123.
int64_t decimal_exponent(std::string_view text) {
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  int64_t exponent = 0;
  if (e < text.size()) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (result.ec != std::errc()) return digits.starts_with('-') ? INT64_MIN : INT64_MAX;
  }
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return INT64_MIN;
  const auto place = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  // Far beyond float64 either way; a sum with an absurd exponent could overflow.
  return std::clamp<int64_t>(exponent, -1'000'000'000, 1'000'000'000) + (place > 0 ? place - 1 : place);
}

}  // namespace

std::optional<ParsedNumber> parse_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  const char* end = text.data() + text.size();
  float value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || text.empty() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range || std::fabs(value) >= kExactIntegers) {
    double wide = 0;
    if (std::from_chars(text.data(), end, wide).ec != std::errc()) {
      // Beyond float64: from_chars does not tell tiny from huge.
      if (decimal_exponent(text) > 0) return std::nullopt;
      wide = 0;
    }
    if (error == std::errc::result_out_of_range) {
      if (std::fabs(wide) > 1) return std::nullopt;
      return ParsedNumber{static_cast<float>(wide), false};
    }
    return ParsedNumber{value, is_rounded(wide, value)};
  }
  return ParsedNumber{value, false};
}

double parse_double(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;  // of what is too small for a double, too
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void append_number(std::string& out, float value) {
  char text[32];
  const bool whole = value == std::trunc(value) && std::fabs(value) < 1e15f && !(value == 0 && std::signbit(value));
  const auto result = whole ? std::to_chars(text, text + sizeof text, static_cast<int64_t>(value))
                            : std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

std::string number_text(float value) {
  std::string text;
  append_number(text, value);
  return text;
}

}  // namespace assay

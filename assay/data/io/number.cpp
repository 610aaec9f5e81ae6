#include "assay/data/io/number.h"

#include <charconv>
#include <cmath>

namespace assay {
namespace {

constexpr float kExactIntegers = 16777216.0f;  // 2^24

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
      // Beyond float64: from_chars does not tell tiny from huge, the exponent's sign does.
      if (text.find("e-") == std::string_view::npos && text.find("E-") == std::string_view::npos) return std::nullopt;
      wide = 0;
    }
    if (error == std::errc::result_out_of_range) {
      if (std::fabs(wide) > 1) return std::nullopt;
      return ParsedNumber{static_cast<float>(wide), false};
    }
    return ParsedNumber{value, std::isfinite(wide) && wide == std::trunc(wide) && wide != static_cast<double>(value)};
  }
  return ParsedNumber{value, false};
}

void append_number(std::string& out, float value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

std::string number_text(float value) {
  std::string text;
  append_number(text, value);
  return text;
}

}  // namespace assay

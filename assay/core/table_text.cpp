#include "assay/core/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/text.h"

namespace assay {
namespace {

// How many character cells a UTF-8 text takes, near enough: one for each code point.
size_t display_width(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 3600) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& left) {
  // Names in tables come from files.
  auto lines = rows;
  for (auto& row : lines) {
    for (std::string& cell : row) cell = one_line(cell);
  }
  std::vector<size_t> widths;
  for (const auto& row : lines) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], display_width(row[j]));
  }
  std::string out;
  for (const auto& row : lines) {
    std::string line;
    for (size_t j = 0; j < row.size(); ++j) {
      if (j > 0) line += "  ";
      const std::string padding(widths[j] - display_width(row[j]), ' ');
      const bool flush_left = std::ranges::find(left, j) != left.end();
      line += flush_left ? row[j] + padding : padding + row[j];
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string short_name(std::string_view name) {
  constexpr size_t kLongest = 60;
  if (name.size() <= kLongest) return one_line(name);
  size_t end = kLongest;
  // Never within a character of UTF-8.
  while (end > kLongest - 3 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) end--;
  return one_line(name.substr(0, end)) + "...";
}

std::string with_commas(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::fabs(value);
  if (size >= 1000 && size < 1e12)
    return fmt::format("{}{}", value < 0 ? "-" : "", with_commas(static_cast<uint64_t>(std::llround(size))));
  return fmt::format("{:.4g}", value);
}

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return short_number(value);
}

std::string plural(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", with_commas(count), what, count == 1 ? "" : "s");
}

}  // namespace assay

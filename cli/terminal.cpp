#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "assay/core/text.h"

namespace assay::cli {
namespace {

// How many character cells a UTF-8 text takes, near enough: one for each code point.
size_t display_width(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string time_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 3600) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

void ProgressLine::begin(std::string_view task, uint64_t total) noexcept {
  task_ = one_line(task);
  total_ = total;
  done_ = 0;
  started_ = drawn_ = Clock::now();
}

void ProgressLine::advance(uint64_t amount) noexcept {
  done_ += amount;
  const auto now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(200)) return;
  drawn_ = now;
  visible_ = true;
  draw(now);
}

void ProgressLine::draw(Clock::time_point now) const {
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 0;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const std::string left = share > 0 ? ", " + time_text(elapsed * (1 - share) / share) + " left" : "";
  // Not fmt::print, which throws when the terminal has gone.
  std::fputs(fmt::format("\r\x1b[K{}: {:.0f} %{}", task_, 100 * share, left).c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::end() noexcept {
  if (visible_) std::fputs("\r\x1b[K", stderr);
  visible_ = false;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& left) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], display_width(row[j]));
  }
  std::string out;
  for (const auto& row : rows) {
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

}  // namespace assay::cli

// What the program shows: progress on stderr, aligned columns and counts on stdout.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"

namespace assay::cli {

// A line on stderr with the share done and the time left, redrawn a few times a second.
class ProgressLine : public Progress {
 public:
  void begin(std::string_view task, uint64_t total) noexcept override;
  void advance(uint64_t amount) noexcept override;
  void end() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now) const;

  std::string task_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

// Rows of cells in aligned columns; the first row is the header. Columns named in `left` are flush left, others right.
std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& left);

// A name from a file on one line, a long one cut: for headings and tables.
std::string short_name(std::string_view name);

// 48842 as "48,842".
std::string with_commas(uint64_t number);

// Four significant digits (thousands as whole numbers), or "-" for NaN.
std::string short_number(double value);

}  // namespace assay::cli

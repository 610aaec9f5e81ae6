#include "assay/core/budget.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "assay/core/error.h"

namespace assay {
namespace {

uint64_t sum(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max() : a + b;
}

// Four digits are enough to see how far from the budget it is.
std::string number_in_words(uint64_t count) {
  if (count < 1'000'000) return fmt::format("{}", count);
  const bool billions = count >= 1'000'000'000;
  return fmt::format("{:.4g} {}", static_cast<double>(count) / (billions ? 1e9 : 1e6),
                     billions ? "billion" : "million");
}

}  // namespace

void Spending::take_bytes(uint64_t count) {
  context_.check_cancelled();
  const uint64_t all = sum(bytes_, count);
  if (all > context_.budget.bytes) {
    std::string found = bytes_in_words(all);
    std::string most = bytes_in_words(context_.budget.bytes);
    // Rounded alike they would contradict the sentence.
    if (found == most) {
      found = fmt::format("{} bytes", all);
      most = fmt::format("{}", context_.budget.bytes);
    }
    fail_input(fmt::format("{}: it takes {} of memory; at most {} are allowed", where_, found, most));
  }
  bytes_ = all;
}

void Spending::take_steps(uint64_t count) {
  context_.check_cancelled();
  const uint64_t all = sum(steps_, count);
  if (all > context_.budget.steps) {
    fail_input(fmt::format("{}: it takes {} steps of computation; at most {} are allowed", where_, number_in_words(all),
                           number_in_words(context_.budget.steps)));
  }
  steps_ = all;
}

std::string bytes_in_words(uint64_t bytes) {
  if (bytes == 1) return "1 byte";
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double count = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // What would round to 1024 is 1 of the next unit.
  while (count >= 1023.95 && unit + 1 < kUnits.size()) {
    count /= 1024;
    unit++;
  }
  const double tenths = std::round(count * 10) / 10;
  return fmt::format("{} {}", tenths, kUnits[unit]);
}

}  // namespace assay

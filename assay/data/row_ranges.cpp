#include "assay/data/row_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {
namespace {

struct RowRange {
  size_t first;
  size_t last;
};

// "5" or "10-20".
std::optional<RowRange> row_range(std::string_view item) {
  const char* stop = item.data() + item.size();
  RowRange range{};
  auto [at, problem] = std::from_chars(item.data(), stop, range.first);
  range.last = range.first;
  if (problem == std::errc() && at != stop && *at == '-') {
    const auto tail = std::from_chars(at + 1, stop, range.last);
    at = tail.ptr;
    problem = tail.ec;
  }
  if (problem != std::errc() || at != stop) return std::nullopt;
  return range;
}

}  // namespace

std::vector<size_t> rows_from_ranges(std::string_view where, std::string_view text, size_t rows) {
  constexpr size_t kMostRepeated = size_t{1} << 16;
  const size_t most = std::max(rows, kMostRepeated);
  std::vector<size_t> out;
  for (const std::string_view item : split_at(text, ',')) {
    const auto range = row_range(item);
    if (!range || range->first < 1 || range->last < range->first || range->last > rows) {
      fail_input(where, fmt::format("rows from 1 to {}, as in 1,5,10-20", rows), in_quotes(item));
    }
    if (range->last - range->first + 1 > most - out.size())
      fail_input(where, fmt::format("at most {} rows", most), "more");
    for (size_t row = range->first; row <= range->last; row++) out.push_back(row - 1);
  }
  return out;
}

std::optional<std::string_view> no_row_range(std::string_view text) {
  for (const std::string_view item : split_at(text, ',')) {
    if (!row_range(item)) return item;
  }
  return std::nullopt;
}

}  // namespace assay

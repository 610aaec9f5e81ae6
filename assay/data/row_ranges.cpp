#include "assay/data/row_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {

std::vector<size_t> rows_from_ranges(std::string_view where, std::string_view text, size_t rows) {
  constexpr size_t kMostRepeated = size_t{1} << 16;
  const size_t most = std::max(rows, kMostRepeated);
  const auto refuse = [&](std::string_view found) {
    fail_input(where, fmt::format("rows from 1 to {}, as in 1,5,10-20", rows), in_quotes(found));
  };
  std::vector<size_t> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const char* stop = item.data() + item.size();
    size_t first = 0;
    auto [at, problem] = std::from_chars(item.data(), stop, first);
    size_t last = first;
    if (problem == std::errc() && at != stop && *at == '-') {
      const auto tail = std::from_chars(at + 1, stop, last);
      at = tail.ptr;
      problem = tail.ec;
    }
    if (problem != std::errc() || at != stop || first < 1 || last < first || last > rows) refuse(item);
    if (last - first + 1 > most - out.size()) fail_input(where, fmt::format("at most {} rows", most), "more");
    for (size_t row = first; row <= last; row++) out.push_back(row - 1);
    begin = end + 1;
  }
  return out;
}

}  // namespace assay

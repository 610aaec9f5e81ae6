#include "assay/data/column_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/core/error.h"

namespace assay {

namespace {

// Whether readers give this name to the column with this index of a file without names.
bool is_made_up(std::string_view name, size_t column) { return name == fmt::format("x{}", column + 1); }

bool have_the_same_names(std::vector<std::string> a, std::vector<std::string> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

}  // namespace

void require_same_order(const Dataset& rows, const Dataset& other) {
  if (rows.feature_names == other.feature_names) return;
  std::unordered_map<std::string_view, size_t> places;
  for (size_t c = 0; c < rows.feature_names.size(); c++) places.emplace(rows.feature_names[c], c);
  const bool same_names = have_the_same_names(rows.feature_names, other.feature_names);
  const size_t columns = std::min(rows.feature_names.size(), other.feature_names.size());
  for (size_t c = 0; c < columns; c++) {
    const std::string& mine = rows.feature_names[c];
    const std::string& theirs = other.feature_names[c];
    if (mine == theirs || !places.contains(theirs)) continue;
    if (!same_names && (is_made_up(mine, c) || is_made_up(theirs, c))) continue;
    fail_input(
        fmt::format("{}: its column {} is {} where {} has {}; the model takes columns by position, so both need "
                    "one order",
                    other.source, c + 1, in_quotes(theirs), rows.source, in_quotes(mine)));
  }
}

}  // namespace assay

#include "assay/data/column_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "assay/core/error.h"

namespace assay {

void require_same_order(const Dataset& rows, const Dataset& other) {
  if (rows.feature_names == other.feature_names) return;
  std::unordered_map<std::string_view, size_t> places;
  for (size_t c = 0; c < rows.feature_names.size(); c++) places.emplace(rows.feature_names[c], c);
  const size_t columns = std::min(rows.feature_names.size(), other.feature_names.size());
  for (size_t c = 0; c < columns; c++) {
    const std::string& mine = rows.feature_names[c];
    const std::string& theirs = other.feature_names[c];
    if (mine == theirs || !places.contains(theirs)) continue;
    fail_input(
        fmt::format("{}: its column {} is {} where {} has {}; the model takes columns by position, so both need "
                    "one order",
                    other.source, c + 1, in_quotes(theirs), rows.source, in_quotes(mine)));
  }
}

}  // namespace assay

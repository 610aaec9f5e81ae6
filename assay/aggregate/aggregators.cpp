#include "assay/aggregate/aggregators.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {

std::span<const AggregatorInfo> aggregators() {
  static const std::vector<AggregatorInfo> table = {};
  return table;
}

const AggregatorInfo& find_aggregator(std::string_view name) {
  const auto all = aggregators();
  const auto found = std::ranges::find(all, name, &AggregatorInfo::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const AggregatorInfo& info : all) names.push_back(info.name);
  fail_input("aggregator", joined(names, "or"), fmt::format("{}{}", in_quotes(name), suggestion(name, names)));
}

}  // namespace assay

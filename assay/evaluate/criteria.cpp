#include "assay/evaluate/criteria.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/complexity.h"

namespace assay {

std::span<const CriterionInfo> criteria() {
  static const std::vector<CriterionInfo> table = {
      complexity_criterion(),
  };
  return table;
}

const CriterionInfo& find_criterion(std::string_view name) {
  const auto all = criteria();
  const auto found = std::ranges::find(all, name, &CriterionInfo::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const CriterionInfo& info : all) names.push_back(info.name);
  fail_input("criterion", joined(names, "or"), fmt::format("{}{}", in_quotes(name), suggestion(name, names)));
}

}  // namespace assay

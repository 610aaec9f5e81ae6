#include "cli/needed_options.h"

#include <fmt/format.h>

#include "assay/core/text.h"

namespace assay::cli {

std::vector<std::string> missing_options(std::initializer_list<Need> needs, const ModelRowsArguments& given) {
  std::vector<std::string> missing;
  const auto add = [&](bool absent, const char* option) {
    if (absent) missing.emplace_back(option);
  };
  for (const Need need : needs) {
    add(need == Need::model && given.model.empty(), "--model");
    add(need == Need::model && given.table.what.empty(), "--data");
    add(need == Need::pool && given.pool.empty(), "--pool");
    add(need == Need::reference && !given.has_reference(),
        "--pool (its mean is the default), --baseline or --background");
  }
  return missing;
}

std::string with_advice(const Refusal& refusal, const ModelRowsArguments& given) {
  const std::vector<std::string> missing = missing_options({refusal.need}, given);
  return missing.empty() ? refusal.reason : fmt::format("{}: give {}", refusal.reason, joined(missing));
}

}  // namespace assay::cli

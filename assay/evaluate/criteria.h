// The table of criteria. The command line's help, Python's signatures, the documentation and the contract tests all
// read it.
#pragma once

#include <span>
#include <string_view>

#include "assay/evaluate/criterion.h"

namespace assay {

std::span<const CriterionInfo> criteria();
// An input error lists the criteria when there is none of that name.
const CriterionInfo& find_criterion(std::string_view name);

}  // namespace assay

// The table of aggregators. The command line's help, Python's signatures, the documentation and the contract tests all
// read it.
#pragma once

#include <span>
#include <string_view>

#include "assay/aggregate/aggregator.h"

namespace assay {

std::span<const AggregatorInfo> aggregators();
// An input error lists the aggregators when there is none of that name.
const AggregatorInfo& find_aggregator(std::string_view name);

}  // namespace assay

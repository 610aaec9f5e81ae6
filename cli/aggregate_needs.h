// What aggregators need, whether the given files have it, and which option adds what is missing.
#pragma once

#include <optional>
#include <string>

#include "assay/aggregate/aggregator.h"
#include "cli/aggregate_members.h"

namespace assay::cli {

// What the aggregator needs with these options.
AggregateNeeds aggregate_needs(const Spec& spec);

// Why the aggregator cannot work on these files or, with --pool-out, on the pool's rows: a sentence with the option to
// add. Nothing if it can. Looks only at the files and arguments.
std::optional<std::string> lacking(const Spec& spec, const MemberFiles& files, const AggregateArguments& arguments);

}  // namespace assay::cli

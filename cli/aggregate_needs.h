// What aggregators need of the files that are given, and which option adds what is missing.
#pragma once

#include <optional>
#include <string>

#include "assay/aggregate/aggregator.h"
#include "assay/core/refusal.h"
#include "cli/aggregate_members.h"

namespace assay::cli {

// What the aggregator needs with these options.
AggregateNeeds aggregate_needs(const Spec& spec);

// Why the aggregator cannot work on these files, or not on the pool's rows where --pool-out asks for that, as a
// sentence with the option to add; nothing when it can. It speaks of the files and arguments alone.
std::optional<std::string> lacking(const Spec& spec, const MemberFiles& files, const AggregateArguments& arguments);

// An aggregator's own reason against a task, with the options that would help where the arguments lack them.
std::string with_advice(const Refusal& refusal, const AggregateArguments& arguments);

}  // namespace assay::cli

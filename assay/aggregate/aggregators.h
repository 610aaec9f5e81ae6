// The table of aggregators. The command line's help, Python's signatures, the documentation and the contract tests all
// read it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/explain/explanations.h"

namespace assay {

std::span<const AggregatorInfo> aggregators();
// Adds an aggregator at the end. Call it before anything is looked up in the table.
void add_aggregator(AggregatorInfo info);
// An input error lists the aggregators when there is none of that name.
const AggregatorInfo& find_aggregator(std::string_view name);

// Whether an aggregator made these explanations; and what they are made of, in words: "an aggregate of a and b".
bool is_aggregate(const Explanations& explanations);
std::string aggregate_in_words(const Explanations& explanations);

// Whether signs mean something: false if the values are ranks, in which what speaks for and against looks alike.
bool has_signs(const Explanations& explanations);

// In the words of the documentation: "model", "pool".
std::vector<std::string> needs_in_words(const AggregateNeeds& needs);

}  // namespace assay

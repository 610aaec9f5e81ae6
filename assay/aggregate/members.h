// Whether members fit together, and what an aggregate takes over from them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/explain/explanations.h"

namespace assay {

// An input error names the two members and what differs between them: rows, ids, features, targets, units or explained
// values, as far as both say; or what of the task does not fit them.
void check_members(const AggregateTask& task);

// The task's names; else each member's method.
std::vector<std::string> member_names(const AggregateTask& task);

// Features, targets and ids, each from the first member that says it.
void fill_frame(std::span<const Explanations* const> members, Explanations& made);

// Empties the fields of `shared` that `other` says differently.
void keep_shared(const Provenance& other, Provenance& shared);

// Notes: the label of relative results, members that say they are of other models or tables, and the rows where members
// are zero.
void note_members(const AggregateTask& task, const Members& members, Explanations& made);

}  // namespace assay

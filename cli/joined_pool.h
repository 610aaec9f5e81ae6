// Explanations of the pool's rows: those that are given, checked, or those that can be made.
#pragma once

#include <optional>

#include "assay/core/context.h"
#include "assay/explain/target.h"
#include "cli/joined_explanations.h"

namespace assay::cli {

// What each row of a pool is explained for: what the explanations say, or else the target that all rows share, or the
// predicted class of each; nothing when rows have neither.
std::optional<TargetChoice> pool_target_of(const JoinedExplanations& explained, const Context& context);

// What each row of the pool is explained for, one by one; nothing where that is not known.
std::optional<Targets> pool_targets_of(const JoinedExplanations& explained, const Context& context);

// Pool explanations that are given are of the explanations' players, unit and targets, and of the pool's rows and the
// model's values where those are there; each slip is an input error. Another method, other options or another reference
// is a note.
void check_pool(JoinedExplanations& explained, const Context& context);

// Makes pool explanations possible: those given, or made when they are needed by the method of the explanations. There
// are none without a pool or a method, or where rows are explained for targets that rows of a pool do not have.
void join_pool(JoinedExplanations& explained);

}  // namespace assay::cli

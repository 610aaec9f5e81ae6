// Explanations of the pool's rows: checks those that are given, and makes others when they are needed.
#pragma once

#include <optional>

#include "assay/core/context.h"
#include "assay/explain/target.h"
#include "cli/joined_explanations.h"

namespace assay::cli {

// How targets of the pool's rows are chosen: as the explanations say, or else the target that all rows share, or else
// the predicted class. Nothing if the rows have other targets.
std::optional<TargetChoice> pool_target_of(const JoinedExplanations& explained, const Context& context);

// The target of each row of the pool; nothing if it is not known.
std::optional<Targets> pool_targets_of(const JoinedExplanations& explained, const Context& context);

// Checks pool explanations that are given. Their players, unit and targets must be those of the explanations, and with
// a pool and a model also the rows and the explained values; else it is an input error. Another method, options or
// reference only adds a note.
void check_pool(JoinedExplanations& explained, const Context& context);

// Sets pool_explanations: those that are given, or ones that the method of the explanations makes when needed. Leaves
// it empty if there is no pool or method, or if targets of the pool's rows are not known.
void join_pool(JoinedExplanations& explained);

}  // namespace assay::cli

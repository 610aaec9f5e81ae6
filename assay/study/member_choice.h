// Which methods a study aggregates where the user names none: those found faithful on rows of the pool that are not
// studied. With an unfaithful member most aggregates can never be faithful themselves; and rows that choose the members
// must not score them too.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/explain/subject.h"

namespace assay {

// Indices into the methods, ascending: those whose mean faithfulness is within the margin of the best, without those
// whose attributions are the same as an earlier one's; at least two, the best ones, if there are two. A quarter as many
// rows of the pool are explained as are studied, from 10 to 60, spread over it. None if there are fewer than 10 such
// rows, they have no targets, or no method has a score on them.
std::vector<size_t> faithful_members(const Subject& subject, std::span<const Spec> methods, const Spec& faithfulness,
                                     double margin, const Context& context);

// How many rows of the pool are explained, if so many rows are studied and the pool has so many.
size_t rows_that_choose_members(size_t rows, size_t pool);

}  // namespace assay

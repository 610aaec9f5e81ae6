// Whether members fit together, and what an aggregate takes over from them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/matrix.h"
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

// Makes rows exactly zero that are zero up to rounding: noise must not be scaled to the length of an explanation. How
// small that is, with `explained` the larger of |output| and |base| of the row, and `largest` the largest |value| of
// the member in any row. A row is noise when its largest |value| is
// - at most 2.5e-7 times `explained` and 2.5e-7 times `largest`: less than float32 rounds off the values that are
//   explained (two units in its last place, as Game::rounding() has it), and nothing beside the member's other rows.
//   The second half keeps what has another unit than the output, as gradients by features of large numbers have;
// - or at most 1e-12 times `explained`, or times `largest` where nobody says output or base: what a solve in float64
//   leaves of 0.
// `explained` is empty, or NaN for rows, where that is not known.
void clear_rounding(MatrixView<float> values, std::span<const double> explained);

// Notes: the label of relative results, members that say they are of other models or tables, and the rows where members
// are zero, or are taken for it.
void note_members(const AggregateTask& task, const Members& members, Explanations& made);

}  // namespace assay

// The background of reasons that compare a row with those that the model accepts: "approved" in the user's words.
#pragma once

#include <cstddef>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/explain/reasons/reasons.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

// More rows of a pool than this are not taken for a background of reasons: of more, so many that are spread over the
// model's scores are drawn.
inline constexpr size_t kMostReasonRows = 1000;

// The whole pool, or kMostReasonRows of it. choice: what is explained.
Reference reasons_background(const Dataset& pool, const Model& model, const TargetChoice& choice,
                             const Context& context);

// The same of the pool's rows that the model decides as the row would have liked: those predicted to be the explained
// class for reasons against it, and those predicted to be another class for reasons for it. An input error for a
// regression, for targets that differ from row to row (choice.predicted), and if there are no such rows.
// whole_pool: rows of which the pool is a sample; 0: it is no sample. Then the approved rows are a draw as well, from
// about as large a share of the whole.
Reference approved_background(const Dataset& pool, const Model& model, const TargetChoice& choice,
                              ReasonDirection direction, const Context& context, size_t whole_pool = 0);

}  // namespace assay

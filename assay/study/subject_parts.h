// Two things that a study derives from its rows: other baselines to try, and a hash.
#pragma once

#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/explain/reference.h"
#include "assay/model/model.h"

namespace assay {

// The other baselines that a study tries, to see whether its ranking changes: zero, or the mean if the reference is
// zero. Empty if that baseline equals the reference.
std::vector<Reference> other_baselines(const Reference& reference, const Dataset& pool, const Model& model,
                                       const Encoder* encoder, const Context& context);

// SHA-256 of values and labels, for rows that come from no file.
std::string rows_hash(const Dataset& data);

}  // namespace assay

// What a study needs to know of its model and rows beside themselves.
#pragma once

#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/dataset.h"
#include "assay/data/encoder.h"
#include "assay/explain/reference.h"
#include "assay/model/model.h"

namespace assay {

// What the ranking is tried with beside the reference: zero, or the mean where zero is the reference; nothing where
// that is the same.
std::vector<Reference> other_baselines(const Reference& reference, const Dataset& pool, const Model& model,
                                       const Encoder* encoder, const Context& context);

// SHA-256 of values and labels: what stands for a file where rows are none.
std::string rows_hash(const Dataset& data);

}  // namespace assay

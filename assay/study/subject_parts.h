// Two things that a study derives from its rows: other references to try, and a hash.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/explain/reference.h"

namespace assay {

// The other references that a study tries, to see whether its ranking changes: the mean row of the pool, or a
// background if the reference is that mean row. Empty if this would be the same rows.
std::vector<Reference> other_references(const Reference& reference, const std::function<Reference()>& mean,
                                        const std::function<Reference()>& background);

// SHA-256 of values and labels, for rows that come from no file.
std::string rows_hash(const Dataset& data);

}  // namespace assay

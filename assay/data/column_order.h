// Tables beside the rows (a pool, a baseline, a background) of a model that takes columns by position.
#pragma once

#include "assay/data/dataset.h"

namespace assay {

// An input error if a column of `other` has the name of a column of `rows` at another place: the same columns in
// another order, or moved by a column before them. Columns whose names the rows do not have say nothing, nor do names
// that readers make up (x1, x2, ...). Models that take columns by name give both the same names, so they always pass.
void require_same_order(const Dataset& rows, const Dataset& other);

}  // namespace assay

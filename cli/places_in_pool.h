// Which rows of --data are rows of --pool.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/model_rows.h"

namespace assay::cli {

// For each chosen row its index in the pool, kNoRow if it is not there; may be empty if no row is in the pool. Rows are
// the same if they are at the same place of the same file or data set. A copy of a row is another row.
std::vector<size_t> places_in_pool(const ModelRowsArguments& arguments, const ModelRows& rows, const Session& session);

}  // namespace assay::cli

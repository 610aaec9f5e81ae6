// Which rows of --data are rows of --pool.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/model_rows.h"

namespace assay::cli {

// For each of the chosen rows its number in the pool, kNoRow where it is none of its rows; empty where no row is. Rows
// are one by their place in one file or data set, never by what they hold: a copy of a row is another row.
std::vector<size_t> places_in_pool(const ModelRowsArguments& arguments, const ModelRows& rows, const Session& session);

}  // namespace assay::cli

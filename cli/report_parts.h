// Parts of what evaluate and aggregate show: tables beside the results.
#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

#include "assay/archive/io/json_parts.h"
#include "assay/core/options.h"
#include "assay/core/table_text.h"
#include "assay/evaluate/scores.h"

namespace assay::cli {

// Each table with its name and the first of its rows, or (spread) some from the first to the last.
void print_tables(std::string_view of, const std::vector<ScoreTable>& tables, FILE* to, bool spread = false);

}  // namespace assay::cli

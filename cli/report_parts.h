// Output that evaluate and aggregate share: tables that come with the results.
#pragma once

#include <cstdio>
#include <string_view>
#include <vector>

#include "assay/archive/io/json_parts.h"
#include "assay/core/options.h"
#include "assay/core/table_text.h"
#include "assay/evaluate/scores.h"

namespace assay::cli {

// Prints each table with its name and its first rows or, with `spread`, rows spread evenly over it.
void print_tables(std::string_view of, const std::vector<ScoreTable>& tables, FILE* to, bool spread = false);

}  // namespace assay::cli

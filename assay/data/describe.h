// What a table holds, column by column: for people, before anything is computed from it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/table.h"

namespace assay {

struct LevelCount {
  std::string level;
  size_t count;
};

struct ColumnSummary {
  std::string name;
  ColumnKind kind;
  bool is_label;
  size_t missing;
  size_t rounded;  // whole numbers that float32 could not hold exactly
  // Numeric columns; NaN when every value is missing.
  double least, median, mean, deviation, most;
  // Categorical columns: every level, most frequent first, ties in byte order.
  std::vector<LevelCount> levels;
};

std::vector<ColumnSummary> describe(const Table& table, const Context& context = {});

}  // namespace assay

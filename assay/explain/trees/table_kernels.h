// The vector loops of pattern_tables.h: patterns of many rows flow down a tree, then each row adds up what tables hold
// for its patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/explain/trees/feature_ranks.h"

namespace assay {

// Numbers in each row of a table: one cache line. A group of units has no more players.
inline constexpr size_t kTableWidth = 16;

// A branch above the units: the patterns of its two children, of those that come to it. A player that is new on the
// path sets its bit where the row goes to that child; another keeps its bit there.
struct PatternSplit {
  RankTest test = {};
  uint16_t new_bit = 0;  // 0 for a player that was on the path before
  uint16_t keep = 0;     // all bits but that player's; all of them for a new one
  uint16_t from = 0;     // numbers of patterns
  uint16_t to_true = 0;
  uint16_t to_false = 0;
};

// A branch inside a unit: its decision is a bit of the unit's pattern.
struct PatternBit {
  RankTest test = {};
  uint16_t bit = 0;
  uint16_t at = 0;  // number of the pattern
};

// One look-up.
struct TableUnit {
  uint32_t pattern = 0;    // its number
  uint32_t first_row = 0;  // of its table
};

// patterns[n * kRankRows + i] of row i for all numbers n, where pattern 0 is that of the root. ranks and decided as
// FeatureRanks fills them, with `columns` columns of ranks; rows are rounded up to whole vectors.
void flow_patterns(std::span<const PatternSplit> splits, std::span<const PatternBit> bits, const uint16_t* ranks,
                   size_t columns, const uint16_t* decided, size_t rows, uint16_t* patterns);

// Asks for so many rows of tables to be brought near, in order: that takes less time than to wait for each.
void fetch_tables(const float* tables, size_t rows);

// sums[i * kTableWidth + j] = sum over units u, in order, of tables[(first_row_u + pattern of row i) * kTableWidth +
// j]. Rows are rounded up to the next multiple of 4. Tables begin at 64-byte boundaries.
void sum_units(std::span<const TableUnit> units, const float* tables, const uint16_t* patterns, size_t rows,
               float* sums);

// totals[i] += sums[i] in float64.
void add_sums(const float* sums, size_t count, double* totals);

}  // namespace assay

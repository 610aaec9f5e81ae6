// The vector loops of pattern_tables.h: first the patterns of many rows are computed down a tree, then each row adds up
// the table rows of its patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/explain/trees/feature_ranks.h"

namespace assay {

// How many numbers a row of a table has: one cache line. A group of units has at most as many players.
inline constexpr size_t kTableWidth = 16;

// A branch above the units: makes the patterns of its two children from its own. If its player is new on the path, the
// player's bit is set in the child where the row goes. If not, the bit is cleared in the other child.
struct PatternSplit {
  RankTest test = {};
  uint16_t new_bit = 0;  // 0 for a player that was on the path before
  uint16_t keep = 0;     // all bits but that player's; all of them for a new one
  uint16_t from = 0;     // this and the next two: numbers of patterns
  uint16_t to_true = 0;
  uint16_t to_false = 0;
};

// A branch inside a unit: its decision is a bit of the unit's pattern.
struct PatternBit {
  RankTest test = {};
  uint16_t bit = 0;
  uint16_t at = 0;  // number of the pattern
};

// The look-up of one unit.
struct TableUnit {
  uint32_t pattern = 0;    // its number
  uint32_t first_row = 0;  // of its table
};

// Writes patterns[n * kRankRows + i], pattern number n of row i. Pattern 0 is that of the root. ranks and decided are
// those of FeatureRanks, with `columns` columns of ranks. `rows` is rounded up to whole vectors.
void flow_patterns(std::span<const PatternSplit> splits, std::span<const PatternBit> bits, const uint16_t* ranks,
                   size_t columns, const uint16_t* decided, size_t rows, uint16_t* patterns);

// Prefetches this many rows of the tables into the cache: faster than waiting for each.
void fetch_tables(const float* tables, size_t rows);

// Prefetches the rows of the tables that sum_units will read for these rows.
void fetch_rows(std::span<const TableUnit> units, const float* tables, const uint16_t* patterns, size_t rows);

// sums[i * kTableWidth + j] = sum over units u, in order, of tables[(first_row_u + pattern of row i) * kTableWidth +
// j]. Rows are rounded up to the next multiple of 4. Tables begin at 64-byte boundaries.
void sum_units(std::span<const TableUnit> units, const float* tables, const uint16_t* patterns, size_t rows,
               float* sums);

// totals[i] += sums[i] in float64.
void add_sums(const float* sums, size_t count, double* totals);

}  // namespace assay

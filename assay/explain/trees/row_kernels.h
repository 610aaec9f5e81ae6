// The vector loops of row_program.h: one row through all trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/explain/trees/table_kernels.h"

namespace assay {

// Units whose patterns are made side by side, and branches that are decided side by side.
inline constexpr size_t kBlockUnits = 8;
inline constexpr size_t kWordBranches = 16;

// Clears a bit of the patterns of a block's units where the row leaves the path to the unit.
struct RowTest {
  uint16_t word = 0;  // of the tree's decisions
  uint16_t keep = 0;  // all bits but that one
};

// Up to kBlockUnits units of a tree.
struct RowBlock {
  uint32_t first_word = 0;  // of the tree's decisions
  uint32_t first_plane =
      0;  // byte of the decisions: that of branch j inside the units is first_plane + j, a unit a bit
  uint16_t tests = 0;
  uint16_t planes = 0;
};

struct RowGroup {
  uint32_t first_unit = 0;
  uint32_t end_unit = 0;
  const uint32_t* players = nullptr;  // of the columns of the tables
  uint32_t width = 0;                 // how many
};

struct RowTree {
  uint32_t end_block = 0;
  uint32_t end_group = 0;
};

// All trees. Units are counted over all trees, those of a tree from a multiple of kBlockUnits on.
struct RowPlan {
  // By branch, in words of kWordBranches: the interval lowest .. lowest + width of ranks.
  std::span<const uint8_t> columns;
  const uint16_t* lowest = nullptr;
  const uint16_t* width = nullptr;
  const uint16_t* within =
      nullptr;  // by word, a bit for each branch: set if the interval goes true, else the rest does
  std::span<const RowTree> trees;
  const RowBlock* blocks = nullptr;
  const RowGroup* groups = nullptr;
  const RowTest* tests = nullptr;  // in the order of blocks
  // For each block kBlockUnits numbers each: its first patterns, then masks and expected decisions of each test, then
  // the bits of each plane.
  const uint16_t* lanes = nullptr;
  const uint32_t* first_rows = nullptr;  // by unit: of its table
};

// The most columns of ranks that decide_branches takes.
inline constexpr size_t kMostRowColumns = 64;

// decided[w]: the decisions of word w's branches, a bit each. ranks: of the row by column, filled up to a multiple
// of 16.
void decide_branches(const RowPlan& plan, const uint16_t* ranks, size_t columns, uint16_t* decided);

// Adds up the table rows of the row's patterns: in float32 over the units of a group, then in float64, in order.
// stride: the number of totals; with kTableWidth of them the tables have all players in order. rows: memory for a
// number for each unit.
void add_row(const RowPlan& plan, const float* tables, const uint16_t* decided, size_t stride, uint32_t* rows,
             double* totals);

}  // namespace assay

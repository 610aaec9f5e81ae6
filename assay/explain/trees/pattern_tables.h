// Shapley values of many narrow trees for many rows: a few look-ups for each row and tree (tree_layout.h), in tables
// that are built once for all rows.
//
// A table's row holds what the leaves of a unit give to the players of its group for one target, summed in float64 and
// rounded to float32. The median of a tree's leaves is subtracted from them, where that changes no value, so that less
// cancels. For each row, the units of a group (at most 64) are added up in float32, then the groups of all trees in
// float64, in order. The result of a row does not depend on other rows.
//
// Work for a row: one decision for each branch, 32 rows in one vector, and one cache line for each unit. A block of
// rows goes through one tree after the other, so that the tree's tables stay in the cache.
//
// One row alone goes another way to the same table rows (row_program.h). Few rows need few of the tables' rows: these
// can be made when they are asked for, with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/players.h"
#include "assay/explain/trees/feature_ranks.h"
#include "assay/explain/trees/row_program.h"
#include "assay/explain/trees/table_builder.h"
#include "assay/explain/trees/tree_layout.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

using SharedLayout = std::shared_ptr<const TreeLayout>;

class PatternTables {
 public:
  // When the rows of the tables are made.
  enum class Filled : uint8_t { now, when_asked_for };

  // Builds the tables of these trees, on all threads. All trees must be within the limits of lay_out_tree.
  PatternTables(const TreeGameView& game, std::vector<SharedLayout> layouts, size_t target, Filled filled,
                const Context& context);

  // How many doubles each row has in totals: the number of players, but at least kTableWidth.
  static size_t totals_stride(size_t players) { return players <= kTableWidth ? kTableWidth : players; }
  // totals[i * stride + p] += the value of player p for row i, times trees.tree_share(). Safe from several threads at
  // once.
  void add(std::span<const float* const> rows, double* totals) const;
  // Of the tables themselves, which take nearly all memory.
  size_t bytes() const { return table_rows_ * kTableWidth * sizeof(float); }

 private:
  // The memory of one call.
  struct Scratch {
    VectorBuffer<uint16_t> ranks;
    VectorBuffer<uint16_t> decided;
    VectorBuffer<uint16_t> patterns;
    VectorBuffer<float> sums;
    std::vector<uint32_t> places;
    std::vector<uint32_t> table_rows;
    std::vector<CountedPatterns> counted;
  };
  // A tree in the form in which rows go through it.
  struct Program {
    std::vector<PatternSplit> splits;
    std::vector<PatternBit> bits;
    std::vector<BitTest> bit_tests;
    std::vector<TableUnit> units;
    size_t patterns = 0;
    size_t first_row = 0;  // of its tables
  };

  Program program_of(const TreeLayout& layout);
  void make_row_program();
  void rank_references();
  // How many reference rows have each pattern of each unit of a tree.
  void count_references(size_t tree, Scratch& scratch, std::vector<CountedPatterns>& counted) const;
  void fill_tables(const Context& context);
  // Writes the patterns of a tree for these rows; decided is memory for that.
  void flow(const Program& program, const uint16_t* ranks, size_t rows, VectorBuffer<uint16_t>& decided,
            uint16_t* patterns) const;
  void add_blocks(std::span<const float* const> rows, double* totals, Scratch& scratch) const;
  void add_block(std::span<const float* const> rows, double* totals, Scratch& scratch) const;
  void add_one(const float* row, double* totals, Scratch& scratch) const;
  void add_by_tables(size_t tree, size_t rows, const uint16_t* patterns, double* totals, Scratch& scratch) const;
  void add_without_tables(std::span<const float* const> rows, double* totals, Scratch& scratch) const;
  // Adds the sums of a group's units to the totals of its players.
  void add_group(const TreeGroup& group, const float* sums, size_t rows, double* totals) const;

  const TreeGameView game_;
  const size_t target_;
  std::vector<SharedLayout> layouts_;
  std::optional<FeatureRanks> ranks_;  // nothing where no call needs them
  std::vector<Program> programs_;
  std::optional<RowProgram> row_program_;  // nothing if there are too many columns for it, or no tables
  VectorBuffer<uint16_t> reference_memory_;
  const uint16_t* reference_ranks_ = nullptr;
  VectorBuffer<float> memory_;
  float* tables_ = nullptr;  // null if their rows are made when they are asked for
  size_t table_rows_ = 0;    // that are in memory
  size_t most_patterns_ = 1;
  size_t most_bit_tests_ = 0;
  mutable ScratchPool<Scratch> scratch_;  // kept from call to call: fresh memory costs more than one row
};

}  // namespace assay

// Shapley values of many narrow trees for many rows: each tree is a few look-ups for a row (tree_layout.h), in tables
// that are built once for all rows.
//
// A table's row holds what the leaves of a unit give to the players of its group for one target, summed in float64 and
// rounded to float32. A tree's leaves are counted from their median, where that changes no value, which keeps what
// cancels small. A row adds up the units of a group in float32, at most 64 of them, and the groups of all trees in
// float64, in order: its result is the same whatever rows are beside it.
//
// Work for a row: one decision for each branch, 32 rows in one vector, and one cache line for each unit. Blocks of rows
// go through one tree after the other, so that its tables stay near.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/players.h"
#include "assay/explain/trees/feature_ranks.h"
#include "assay/explain/trees/tree_layout.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

// The game whose values are asked for. All of it must outlive what is made of it.
struct TreeGameView {
  const TreeEnsemble& trees;
  const Players& players;
  // Absent players are as in these rows, on average. Null: absent players' branches average their children by covers.
  const Matrix* references = nullptr;
};

class PatternTables {
 public:
  // What one thread works in.
  struct Scratch {
    VectorBuffer<uint16_t> ranks;
    VectorBuffer<uint16_t> decided;
    VectorBuffer<uint16_t> patterns;
    VectorBuffer<float> sums;
  };

  // Of these trees, all within limits. Built on all threads.
  PatternTables(const TreeGameView& game, std::vector<TreeLayout> layouts, size_t target, const Context& context);

  // Doubles for each row in totals: players, or kTableWidth where there are fewer.
  static size_t totals_stride(size_t players) { return players <= kTableWidth ? kTableWidth : players; }
  // totals[i * stride + p] += the value of player p for row i, times trees.tree_share(). Safe from several threads at
  // once, each with its own scratch.
  void add(std::span<const float* const> rows, double* totals, Scratch& scratch) const;

 private:
  // What a tree is for rows.
  struct Program {
    std::vector<PatternSplit> splits;
    std::vector<PatternBit> bits;
    std::vector<BitTest> bit_tests;
    std::vector<TableUnit> units;
    size_t patterns = 0;
    size_t first_row = 0;  // of its tables
  };
  class Build;

  Program program_of(const TreeLayout& layout);
  void flow(const Program& program, const uint16_t* ranks, size_t rows, Scratch& scratch) const;

  const TreeGameView game_;
  std::vector<TreeLayout> layouts_;
  FeatureRanks ranks_;
  std::vector<Program> programs_;
  VectorBuffer<float> memory_;
  float* tables_ = nullptr;
  size_t most_patterns_ = 1;
  size_t most_bit_tests_ = 0;
};

}  // namespace assay

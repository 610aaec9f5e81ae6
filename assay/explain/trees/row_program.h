// One row through narrow trees whose tables are in memory, as a service asks for it: the same table rows, added in the
// same order, as many rows together get (pattern_tables.h), but found across branches and units instead of across rows.
//
// First all branches of all trees are decided, 16 at a time: ranks have two bytes, and each is looked up by the
// branch's column in a vector. The result is a bit for each branch. The branches above the units of a tree fill its
// first words. Then come those inside the units, eight units side by side: their first branches fill a byte, then their
// second ones.
//
// A unit's pattern has a bit for each player on the path to the unit. It stays set if all of the player's branches on
// the path lead there: (decisions & mask) == expected. The bits behind these are the decisions inside the unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/explain/trees/feature_ranks.h"
#include "assay/explain/trees/row_kernels.h"
#include "assay/explain/trees/tree_layout.h"

namespace assay {

class RowProgram {
 public:
  // tests: of the tree's nodes, by node; those of leaves are not read. columns: of the ranks. bit_tests: those that
  // tests of columns beyond these name. first_row: of the tree's tables. The layout must outlive this.
  void add(const TreeLayout& layout, std::span<const RankTest> tests, size_t columns,
           std::span<const BitTest> bit_tests, size_t first_row);

  size_t words() const { return within_.size(); }
  size_t units() const { return first_rows_.size(); }
  // Adds the values of the row. ranks: by column, filled up to a multiple of 16. decided: memory for words(). rows:
  // memory for units().
  void add_to(const FeatureRanks& ranks, const uint16_t* of_row, const float* tables, size_t stride, uint16_t* decided,
              uint32_t* rows, double* totals) const;

 private:
  struct PlacedBitTest {
    BitTest test;
    uint32_t branch = 0;
  };

  // Makes room for so many branches; they come first to no side. Returns the first.
  size_t make_branches(size_t count);
  void set_branch(size_t branch, const RankTest& test, size_t columns, std::span<const BitTest> bit_tests);
  void add_block(const TreeLayout& layout, std::span<const uint32_t> split_of_node, size_t first_unit,
                 size_t first_word, size_t first_plane);

  std::vector<uint8_t> columns_;
  std::vector<uint16_t> lowest_;
  std::vector<uint16_t> width_;
  std::vector<uint16_t> within_;
  std::vector<PlacedBitTest> bit_tests_;
  std::vector<RowTree> trees_;
  std::vector<RowBlock> blocks_;
  std::vector<RowGroup> groups_;
  std::vector<RowTest> tests_;
  std::vector<uint16_t> lanes_;
  std::vector<uint32_t> first_rows_;
};

}  // namespace assay

// Fills rows of the tables of a tree (pattern_tables.h): for patterns of a unit, what its leaves together give to each
// player of its group.
//
// All patterns of a unit together are cheapest for many rows to explain, a single one for a single row. Both have the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/explain/trees/leaf_tables.h"
#include "assay/explain/trees/tree_layout.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

// The game whose Shapley values are computed. All of it must outlive what is made from it.
struct TreeGameView {
  const TreeEnsemble& trees;
  const Players& players;
  // Values are means over these reference rows. Null: branches of absent players average their children by covers.
  const Matrix* references = nullptr;
};

// Patterns of a unit, and how many reference rows have each.
struct CountedPatterns {
  std::vector<uint16_t> patterns;
  std::vector<double> counts;
};

// One thread's work on one tree after the other.
class TableBuilder {
 public:
  TableBuilder(const TreeGameView& game, size_t target) : game_(game), target_(target) {}

  // From now on this tree, which must outlive its use.
  void choose(const TreeLayout& layout);
  // to[q * kTableWidth + c] = what the unit's leaves give to column c of its group, for all patterns q of the unit.
  // references: null without reference rows.
  void fill_all(const TreeUnit& unit, const CountedPatterns* references, float* to);
  // The same for one pattern.
  void fill_one(const TreeUnit& unit, const CountedPatterns* references, uint16_t pattern, float* to);
  // The pattern of each unit for this row.
  void find_unit_patterns(const float* row, std::vector<uint16_t>& of_units);

 private:
  void find_centre();
  bool covers_add_up() const;
  double weight_of(uint32_t leaf) const;
  void find_columns(const TreeUnit& unit, uint32_t leaf);
  void find_ratios(uint32_t leaf);
  // The leaf's pattern for each of these of the unit.
  void find_patterns(const TreeUnit& unit, uint32_t leaf, std::span<const uint16_t> of_unit,
                     std::vector<uint16_t>& found);
  void add_leaf(const TreeUnit& unit, uint32_t leaf, const CountedPatterns* references);
  void add_leaf_once(const TreeUnit& unit, uint32_t leaf, const CountedPatterns* references, uint16_t pattern);
  // Those that can reach a leaf of the unit together with a row of this pattern.
  void find_near(const TreeUnit& unit, const CountedPatterns& references, uint16_t pattern);

  const TreeGameView game_;
  const size_t target_;
  const TreeLayout* layout_ = nullptr;
  const TreeNode* nodes_ = nullptr;
  double centre_ = 0;
  LeafTableScratch scratch_;
  std::vector<double> weights_;
  std::vector<double> sums_;
  std::vector<uint32_t> path_;
  std::vector<uint16_t> all_patterns_;  // 0, 1, 2, ...
  std::vector<uint16_t> patterns_;
  std::vector<uint16_t> reference_patterns_;
  std::vector<double> values_;
  std::vector<uint32_t> columns_;
  std::vector<double> ratios_;
  std::vector<double> counts_;
  CountedPatterns near_;
};

}  // namespace assay

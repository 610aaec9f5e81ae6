// How the leaves of a tree share tables (leaf_tables.h): the tree is cut into units. A unit is a subtree for which a
// row needs one look-up.
//
// The pattern of a unit has a bit for each distinct player on the path to the unit's root, as the pattern of a leaf
// has, and a bit for the decision of each branch inside the unit. The unit's table has one row for each pattern, with
// what all its leaves together give to each player. Players are numbered by their first branch on the path, so that a
// child's pattern is its parent's with one bit set or cleared. A subtree becomes one unit if its pattern has few bits,
// or if its table is at most twice as large as those of its two halves together.
//
// Units form groups with at most kTableWidth players together. A row adds up the values of a group's players side by
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "assay/explain/players.h"
#include "assay/explain/trees/table_kernels.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

// A tree beyond these limits is walked instead. The limits do not depend on the rows, because tables and walks differ
// in the last bits of the result.
struct TreeTableLimits {
  size_t bits = 12;       // of a pattern
  size_t small_bits = 8;  // a subtree of no more is always one unit
  size_t tree_bytes = size_t{2} << 20;
  size_t batch_bytes = size_t{256} << 20;  // of the tables that are held at once
};

struct TreePlace {
  uint32_t parent = 0;    // nodes are counted from the tree's root
  uint32_t last_new = 0;  // the last branch above whose player is new on the path; kNoNode if none
  uint32_t unit = 0;      // kNoNode above the units
  uint32_t pattern = 0;   // number of its pattern; for nodes above units and roots of units
  uint16_t players = 0;   // distinct ones on the path above
  uint16_t position = 0;  // branch: the number of its player among them
  uint16_t bit = 0;       // branch inside a unit: the number of its bit
  bool is_new = false;    // branch: its player is not on the path above
  bool is_true_child = false;
};
inline constexpr uint32_t kNoNode = UINT32_MAX;

struct TreeUnit {
  uint32_t node = 0;
  uint32_t group = 0;
  size_t bits = 0;
  size_t first_row = 0;  // of its table
  std::vector<uint32_t> branches = {};
  std::vector<uint32_t> leaves = {};
};

struct TreeGroup {
  size_t first_unit = 0;
  size_t end_unit = 0;
  std::vector<uint32_t> players = {};  // the player of each column of the tables
};

struct TreeLayout {
  uint32_t root = 0;  // its nodes are root .. end - 1 of the ensemble
  uint32_t end = 0;
  size_t rows = 0;      // of all tables together
  size_t patterns = 0;  // how many: one for each node above units and each root of a unit
  std::vector<TreePlace> places = {};
  std::vector<TreeUnit> units = {};
  std::vector<TreeGroup> groups = {};

  // The players on the path to a node.
  std::vector<uint32_t> path_players(const TreeEnsemble& trees, const Players& players, uint32_t node) const;
};

// Nothing when the tree is beyond the limits. A tree of one leaf has no units. Where there are no more than kTableWidth
// players, all groups have all of them in order.
std::optional<TreeLayout> lay_out_tree(const TreeEnsemble& trees, uint32_t root, uint32_t end, const Players& players,
                                       const TreeTableLimits& limits);

}  // namespace assay

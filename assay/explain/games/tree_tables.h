// Which reduced trees share a table of values, for a list of coalitions.
//
// A table holds the sum of its trees for all subsets of the players that they test. It costs its cells once, and one
// look-up for each coalition. So trees share a table as long as they have few players together; how few depends on the
// number of coalitions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/explain/games/reduced_trees.h"

namespace assay {

// The index of a table is a uint16_t.
inline constexpr size_t kMostTablePlayers = 16;

class TreeTables {
 public:
  struct Table {
    std::array<uint32_t, kMostTablePlayers> asked = {};
    uint32_t player_count = 0;
    uint32_t first = kNoTree;
    std::span<const uint32_t> players() const { return {asked.data(), player_count}; }
  };

  // Reuses the memory of the last plan.
  void plan(const ReducedTrees& trees, std::span<const uint32_t> which, size_t players, size_t coalitions);

  std::span<const Table> tables() const { return tables_; }
  template <class Visit>
  void for_trees(const Table& table, const Visit& visit) const {
    for (uint32_t tree = table.first; tree != kNoTree; tree = next_[tree]) visit(tree);
  }
  // Trees that test no player; and trees that test so many that it is cheaper to walk them for each coalition.
  std::span<const uint32_t> constant() const { return constant_; }
  std::span<const uint32_t> walked() const { return walked_; }

 private:
  static constexpr uint32_t kNoTree = std::numeric_limits<uint32_t>::max();
  void join(uint32_t tree, std::span<const uint32_t> asked, size_t most);

  size_t words_ = 0;  // of a set of players
  std::vector<Table> tables_;
  std::vector<uint64_t> sets_;     // of each table's players
  std::vector<uint32_t> next_;     // by tree: the next tree of the same table
  std::vector<uint32_t> joining_;  // trees that go into tables, those with most players first
  std::vector<uint32_t> constant_, walked_;
};

}  // namespace assay

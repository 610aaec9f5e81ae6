#include "assay/explain/trees/tree_layout.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace assay {
namespace {

// Patterns are numbered in 16 bits, and those of a block of rows should stay in the cache.
constexpr size_t kMostTreeNodes = 8192;
// Sums of a group run in float32.
constexpr size_t kMostGroupUnits = 64;

// Which subtrees are units, decided from the leaves up.
class Cutter {
 public:
  Cutter(const TreeEnsemble& trees, const TreeLayout& layout, const TreeTableLimits& limits)
      : whole_(layout.places.size()), rows_(layout.places.size()), branches_(layout.places.size()) {
    const TreeNode* nodes = trees.nodes().data() + layout.root;
    for (size_t v = whole_.size(); v-- > 0;) {
      const size_t above = layout.places[v].players;
      if (nodes[v].is_leaf()) {
        whole_[v] = true;
        rows_[v] = size_t{1} << above;
        continue;
      }
      const size_t child = nodes[v].child - layout.root;
      branches_[v] = 1 + branches_[child] + branches_[child + 1];
      rows_[v] = rows_[child] + rows_[child + 1];
      const size_t bits = above + branches_[v];
      if (bits > limits.bits) continue;
      if (bits <= limits.small_bits || size_t{1} << bits <= 2 * rows_[v]) {
        whole_[v] = true;
        rows_[v] = size_t{1} << bits;
      }
    }
  }

  bool whole(size_t v) const { return whole_[v]; }
  size_t rows(size_t v) const { return rows_[v]; }
  size_t branches(size_t v) const { return branches_[v]; }

 private:
  std::vector<bool> whole_;
  std::vector<size_t> rows_;
  std::vector<size_t> branches_;
};

// Fills the paths; false when there are too many players on one.
bool find_paths(const TreeEnsemble& trees, const Players& players, size_t most_players, TreeLayout& layout) {
  const TreeNode* nodes = trees.nodes().data() + layout.root;
  auto& places = layout.places;
  const auto player_of = [&](uint32_t v) { return players.of_column[nodes[v].feature]; };
  places[0].parent = places[0].last_new = kNoNode;
  for (uint32_t v = 0; v < places.size(); v++) {
    TreePlace& place = places[v];
    if (place.players > most_players) return false;
    if (nodes[v].is_leaf()) continue;
    uint32_t same = place.last_new;
    while (same != kNoNode && player_of(same) != player_of(v)) same = places[same].last_new;
    place.is_new = same == kNoNode;
    place.position = place.is_new ? place.players : places[same].position;
    for (uint32_t side = 0; side < 2; side++) {
      TreePlace& child = places[nodes[v].child - layout.root + side];
      child.parent = v;
      child.last_new = place.is_new ? v : place.last_new;
      child.players = static_cast<uint16_t>(place.players + (place.is_new ? 1 : 0));
      child.is_true_child = side == 0;
    }
  }
  return true;
}

void find_units(const TreeEnsemble& trees, const Cutter& cutter, TreeLayout& layout) {
  const TreeNode* nodes = trees.nodes().data() + layout.root;
  for (uint32_t v = 0; v < layout.places.size(); v++) {
    TreePlace& place = layout.places[v];
    place.unit = place.parent == kNoNode ? kNoNode : layout.places[place.parent].unit;
    if (place.unit == kNoNode) {
      place.pattern = static_cast<uint32_t>(layout.patterns++);
      if (!cutter.whole(v)) continue;
      place.unit = static_cast<uint32_t>(layout.units.size());
      layout.units.push_back({.node = v, .bits = place.players + cutter.branches(v), .first_row = layout.rows});
      layout.rows += cutter.rows(v);
    }
    TreeUnit& unit = layout.units[place.unit];
    if (nodes[v].is_leaf()) {
      unit.leaves.push_back(v);
    } else {
      place.bit = static_cast<uint16_t>(layout.places[unit.node].players + unit.branches.size());
      unit.branches.push_back(v);
    }
  }
}

void find_groups(const TreeEnsemble& trees, const Players& players, TreeLayout& layout) {
  const bool all = players.size() <= kTableWidth;
  for (size_t u = 0; u < layout.units.size(); u++) {
    TreeUnit& unit = layout.units[u];
    std::vector<uint32_t> needed;
    if (!all) {
      needed = layout.path_players(trees, players, unit.node);
      for (const uint32_t branch : unit.branches) {
        needed.push_back(players.of_column[trees.nodes()[layout.root + branch].feature]);
      }
    }
    const auto fits = [&] {
      if (layout.groups.empty() || u - layout.groups.back().first_unit == kMostGroupUnits) return false;
      std::vector<uint32_t> both = layout.groups.back().players;
      for (const uint32_t player : needed) {
        if (std::find(both.begin(), both.end(), player) == both.end()) both.push_back(player);
      }
      if (both.size() > kTableWidth) return false;
      layout.groups.back().players = std::move(both);
      return true;
    };
    if (!fits()) {
      layout.groups.push_back({.first_unit = u});
      auto& fresh = layout.groups.back().players;
      if (all) {
        fresh.resize(players.size());
        std::iota(fresh.begin(), fresh.end(), 0U);
      } else {
        const bool fitting = fits();
        assert(fitting);
        static_cast<void>(fitting);
      }
    }
    unit.group = static_cast<uint32_t>(layout.groups.size() - 1);
    layout.groups.back().end_unit = u + 1;
  }
}

}  // namespace

std::vector<uint32_t> TreeLayout::path_players(const TreeEnsemble& trees, const Players& players, uint32_t node) const {
  std::vector<uint32_t> made(places[node].players);
  for (uint32_t v = places[node].last_new; v != kNoNode; v = places[v].last_new) {
    made[places[v].position] = players.of_column[trees.nodes()[root + v].feature];
  }
  return made;
}

std::optional<TreeLayout> lay_out_tree(const TreeEnsemble& trees, uint32_t root, uint32_t end, const Players& players,
                                       const TreeTableLimits& limits) {
  assert(limits.bits <= 15 && limits.bits <= kTableWidth && limits.small_bits <= limits.bits);
  TreeLayout made;
  made.root = root;
  made.end = end;
  if (end - root > kMostTreeNodes) return {};
  if (end - root < 2) return made;
  made.places.resize(end - root);
  if (!find_paths(trees, players, limits.bits, made)) return {};
  const Cutter cutter(trees, made, limits);
  if (cutter.rows(0) * kTableWidth * sizeof(float) > limits.tree_bytes) return {};
  find_units(trees, cutter, made);
  find_groups(trees, players, made);
  return made;
}

}  // namespace assay

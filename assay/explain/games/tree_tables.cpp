#include "assay/explain/games/tree_tables.h"

#include <algorithm>
#include <bit>

namespace assay {
namespace {

// Cells that a table may have for a number of coalitions. That of a tree by itself saves walks, one that trees join
// saves entries, one of all trees saves all the others.
constexpr size_t kFewCells = 16;
size_t cells_alone(size_t coalitions) { return 16 * coalitions; }
size_t cells_joined(size_t coalitions) { return std::min(coalitions / 4, size_t{1} << 11); }
size_t cells_of_all(size_t coalitions) { return 8 * coalitions; }
// The last so many tables are those that a tree may join.
constexpr size_t kTried = 32;

size_t players_of(size_t cells) {
  return std::min(kMostTablePlayers, static_cast<size_t>(std::bit_width(std::max(kFewCells, cells))) - 1);
}

}  // namespace

void TreeTables::plan(const ReducedTrees& trees, std::span<const uint32_t> which, size_t players, size_t coalitions) {
  words_ = (players + 63) / 64;
  tables_.clear();
  joining_.clear();
  constant_.clear();
  walked_.clear();
  next_.resize(trees.size());
  sets_.assign(words_, 0);
  size_t together = 0;  // players of all trees that become tables
  const size_t most = players_of(cells_alone(coalitions));
  for (const uint32_t tree : which) {
    const std::span<const uint32_t> asked = trees.players(tree);
    (asked.empty() ? constant_ : asked.size() > most ? walked_ : joining_).push_back(tree);
    if (asked.size() > most) continue;
    for (const uint32_t player : asked) {
      uint64_t& word = sets_[player / 64];
      together += (word >> player % 64 & 1) ^ 1;
      word |= uint64_t{1} << player % 64;
    }
  }
  sets_.clear();
  const bool all = together <= players_of(cells_of_all(coalitions));
  const size_t joined = all ? together : players_of(cells_joined(coalitions));
  std::sort(joining_.begin(), joining_.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t more = trees.tree(a).player_count;
    const uint32_t fewer = trees.tree(b).player_count;
    return more != fewer ? more > fewer : a < b;
  });
  for (const uint32_t tree : joining_) join(tree, trees.players(tree), joined);
}

// To the table that it adds the fewest players to.
void TreeTables::join(uint32_t tree, std::span<const uint32_t> asked, size_t most) {
  const size_t count = tables_.size();
  size_t best = count;
  size_t fewest = kMostTablePlayers + 1;
  for (size_t t = count - std::min(count, kTried); t < count && fewest > 0; t++) {
    const uint64_t* set = sets_.data() + t * words_;
    size_t added = 0;
    for (const uint32_t player : asked) added += (set[player / 64] >> player % 64 & 1) ^ 1;
    if (added >= fewest || (added > 0 && tables_[t].player_count + added > most)) continue;
    best = t;
    fewest = added;
  }
  if (best == count) {
    tables_.emplace_back();
    sets_.resize((count + 1) * words_, 0);
  }
  Table& table = tables_[best];
  for (const uint32_t player : asked) {
    uint64_t& word = sets_[best * words_ + player / 64];
    const uint64_t bit = uint64_t{1} << player % 64;
    if ((word & bit) == 0) table.asked[table.player_count++] = player;
    word |= bit;
  }
  next_[tree] = table.first;
  table.first = tree;
}

}  // namespace assay

// Groups rows by the players in which they differ from the reference.
//
// A player whose cells equal those of the reference changes nothing when it joins a coalition: its Shapley value is 0,
// and the other players form a smaller game. If few players differ (an image on a black baseline, two similar
// customers), the game is often small enough to be played in full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

struct VaryingPlayers {
  std::vector<uint32_t> players;  // in which each of these rows differs from some reference row; ascending
  std::vector<size_t> rows;       // ascending
};

// All rows, in groups of the same players. Cells are the same when their bits are.
std::vector<VaryingPlayers> group_by_varying_players(const ExplainTask& task);

// The same game for the rows of a group, with the group's players only; there must be at least one. The task must
// outlive this object.
class VaryingTask {
 public:
  VaryingTask(const ExplainTask& task, const VaryingPlayers& group);
  ExplainTask task() const { return {whole_.model, rows_.view(), targets_, whole_.reference, players_}; }

 private:
  const ExplainTask& whole_;
  Matrix rows_;
  Targets targets_;
  Players players_;
};

// Fills the attributions of a game. May be called from several threads at once.
using GroupAttribute = std::function<void(const Game& game, Attributions& found, const Context& context)>;

// Fills the attributions of the rows of all groups, each from its own game. Each note is added once. Every group must
// have players.
void attribute_groups(const ExplainTask& task, std::span<const VaryingPlayers> groups, Attributions& out,
                      const Context& context, const GroupAttribute& attribute);

}  // namespace assay

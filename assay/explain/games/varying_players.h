// Rows by the players in which they differ from their reference.
//
// A player whose cells are those of the reference row changes nothing when it joins a coalition: its Shapley value is
// 0, and the game is one of the other players alone. A row of few such players (an image on a black baseline, a
// customer beside another one) is a small game, often small enough to be played in full.
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
  std::vector<uint32_t> players;  // in which all these rows differ from a row of the reference; ascending
  std::vector<size_t> rows;       // ascending
};

// All rows, in groups of the same players. Cells are the same when their bits are.
std::vector<VaryingPlayers> group_by_varying_players(const ExplainTask& task);

// The same game for the rows of a group, between its players alone. They must be at least one. The task must outlive
// this.
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

// What fills the attributions of a game. It may be called from several threads at once.
using GroupAttribute = std::function<void(const Game& game, Attributions& found, const Context& context)>;

// Fills the attributions of the rows of all groups, each from its own game; notes that are not there yet are added. No
// group may be without players.
void attribute_groups(const ExplainTask& task, std::span<const VaryingPlayers> groups, Attributions& out,
                      const Context& context, const GroupAttribute& attribute);

}  // namespace assay

#include "assay/explain/games/varying_players.h"

#include <algorithm>
#include <bit>
#include <map>

namespace assay {
namespace {

std::vector<uint32_t> varying_players(const ExplainTask& task, size_t row) {
  std::vector<bool> varies(task.players.size());
  const auto cells = task.rows.row(row);
  for (size_t r = 0; r < task.reference.rows.rows(); r++) {
    const auto others = task.reference.rows.row(r);
    for (size_t c = 0; c < cells.size(); c++) {
      if (std::bit_cast<uint32_t>(cells[c]) != std::bit_cast<uint32_t>(others[c])) {
        varies[task.players.of_column[c]] = true;
      }
    }
  }
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < varies.size(); i++) {
    if (varies[i]) found.push_back(i);
  }
  return found;
}

}  // namespace

std::vector<VaryingPlayers> group_by_varying_players(const ExplainTask& task) {
  std::map<std::vector<uint32_t>, std::vector<size_t>> groups;
  for (size_t row = 0; row < task.rows.rows(); row++) groups[varying_players(task, row)].push_back(row);
  std::vector<VaryingPlayers> made;
  for (auto& [players, rows] : groups) made.push_back({.players = players, .rows = std::move(rows)});
  return made;
}

VaryingTask::VaryingTask(const ExplainTask& task, const VaryingPlayers& group)
    : whole_(task), rows_(group.rows.size(), task.rows.cols()), targets_(task.targets) {
  targets_.of_row.clear();
  for (size_t i = 0; i < group.rows.size(); i++) {
    std::ranges::copy(task.rows.row(group.rows[i]), rows_.row(i).begin());
    targets_.of_row.push_back(task.targets.of_row[group.rows[i]]);
  }
  // Columns of all other players go with the first one: they are the same whether it is there or not.
  std::vector<uint32_t> place(task.players.size(), 0);
  for (uint32_t i = 0; i < group.players.size(); i++) {
    place[group.players[i]] = i;
    players_.names.push_back(task.players.names[group.players[i]]);
  }
  for (const uint32_t player : task.players.of_column) players_.of_column.push_back(place[player]);
}

}  // namespace assay

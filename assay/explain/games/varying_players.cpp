#include "assay/explain/games/varying_players.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "assay/core/parallel.h"

namespace assay {
namespace {

// Groups of so many rows have work for all threads; smaller ones are played side by side.
constexpr size_t kRowsOfLarge = 64;
// Small groups whose games are there at the same time.
constexpr size_t kGroupsAtOnce = 256;

// Marks of players.
constexpr char kSame = '=';
constexpr char kVaries = '~';

// Marks the players in which a row differs from a row of the reference; whether it is all of them.
bool find_varying(const ExplainTask& task, size_t row, std::string& varies) {
  const auto cells = task.rows.row(row);
  // Most rows differ from the first reference row in every cell.
  const auto first = task.reference.rows.row(0);
  bool any_same = false;
  for (size_t c = 0; c < cells.size(); c++) {
    any_same |= std::bit_cast<uint32_t>(cells[c]) == std::bit_cast<uint32_t>(first[c]);
  }
  if (!any_same) return true;
  std::ranges::fill(varies, kSame);
  for (size_t r = 0; r < task.reference.rows.rows(); r++) {
    const auto others = task.reference.rows.row(r);
    for (size_t c = 0; c < cells.size(); c++) {
      if (std::bit_cast<uint32_t>(cells[c]) != std::bit_cast<uint32_t>(others[c])) {
        varies[task.players.of_column[c]] = kVaries;
      }
    }
    if (varies.find(kSame) == std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<VaryingPlayers> group_by_varying_players(const ExplainTask& task) {
  VaryingPlayers whole;
  std::map<std::string, std::vector<size_t>> others;
  std::string varies(task.players.size(), kSame);
  for (size_t row = 0; row < task.rows.rows(); row++) {
    (find_varying(task, row, varies) ? whole.rows : others[varies]).push_back(row);
  }
  std::vector<VaryingPlayers> made;
  for (auto& [marks, rows] : others) {
    made.push_back({.players = {}, .rows = std::move(rows)});
    for (uint32_t i = 0; i < marks.size(); i++) {
      if (marks[i] == kVaries) made.back().players.push_back(i);
    }
  }
  if (whole.rows.empty()) return made;
  whole.players.resize(task.players.size());
  std::iota(whole.players.begin(), whole.players.end(), uint32_t{0});
  made.push_back(std::move(whole));
  return made;
}

VaryingTask::VaryingTask(const ExplainTask& task, const VaryingPlayers& group)
    : whole_(task), rows_(group.rows.size(), task.rows.cols()) {
  targets_ = {.information = task.targets.information,
              .names = task.targets.names,
              .terms = task.targets.terms,
              .of_row = {},
              .predicted = task.targets.predicted};
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

namespace {

// A group's own game and what came of it.
struct PlayersPart {
  std::unique_ptr<VaryingTask> task = nullptr;
  std::unique_ptr<Game> game = nullptr;
  Matrix values = {};
  Attributions found = {};
};

PlayersPart make_part(const ExplainTask& task, const VaryingPlayers& group, const Context& context) {
  PlayersPart made;
  made.task = std::make_unique<VaryingTask>(task, group);
  made.game = make_game(made.task->task(), context);
  made.values = Matrix(group.rows.size(), group.players.size());
  made.found.values = made.values.view();
  return made;
}

void put_back(const VaryingPlayers& group, PlayersPart& part, Attributions& out) {
  for (size_t i = 0; i < group.rows.size(); i++) {
    for (size_t k = 0; k < group.players.size(); k++) {
      const size_t player = group.players[k];
      out.values(group.rows[i], player) = part.values(i, k);
      out.standard_error(group.rows[i], player) = part.found.standard_error(i, k);
      if (!out.background_error.empty())
        out.background_error(group.rows[i], player) = part.found.background_error(i, k);
    }
  }
  out.evaluations += part.found.evaluations;
  for (std::string& note : part.found.notes) {
    if (std::ranges::find(out.notes, note) == out.notes.end()) out.notes.push_back(std::move(note));
  }
}

// Groups of few rows, side by side where all their games may be: a user's function is called from this thread alone.
void attribute_small(const ExplainTask& task, std::span<const VaryingPlayers* const> groups, Attributions& out,
                     const Context& context, const GroupAttribute& attribute) {
  std::vector<PlayersPart> parts;
  for (const VaryingPlayers* group : groups) parts.push_back(make_part(task, *group, context));
  if (std::ranges::all_of(parts, [](const PlayersPart& part) { return part.game->concurrent(); })) {
    Context alone = context.quiet();
    alone.threads = 1;
    parallel_blocks(context, parts.size(), 1,
                    [&](const Block& block) { attribute(*parts[block.begin].game, parts[block.begin].found, alone); });
  } else {
    for (PlayersPart& part : parts) attribute(*part.game, part.found, context);
  }
  for (size_t i = 0; i < parts.size(); i++) put_back(*groups[i], parts[i], out);
}

}  // namespace

void attribute_groups(const ExplainTask& task, std::span<const VaryingPlayers> groups, Attributions& out,
                      const Context& context, const GroupAttribute& attribute) {
  std::vector<const VaryingPlayers*> small;
  for (const VaryingPlayers& group : groups) {
    if (group.rows.size() < kRowsOfLarge) {
      small.push_back(&group);
      continue;
    }
    PlayersPart part = make_part(task, group, context);
    attribute(*part.game, part.found, context);
    put_back(group, part, out);
  }
  for (size_t first = 0; first < small.size(); first += kGroupsAtOnce) {
    attribute_small(task, std::span(small).subspan(first, std::min(kGroupsAtOnce, small.size() - first)), out, context,
                    attribute);
  }
}

}  // namespace assay

// Players: what an explanation gives a value to. Usually a feature; with groups, all columns of one raw feature (its
// one-hot columns), a patch of an image, or whatever the user names. They partition the columns of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"

namespace assay {

// With more players than this rows are wide: each coalition costs a run of the model, and some methods and aggregators
// take minutes for a row.
inline constexpr size_t kWidePlayers = 64;

struct Players {
  std::vector<std::string> names;
  std::vector<uint32_t> of_column;  // for each column of the rows, its player

  size_t size() const { return names.size(); }
  size_t columns() const { return of_column.size(); }
  // Whether player i is column i alone.
  bool are_columns() const;
  std::vector<std::vector<uint32_t>> columns_of_players() const;
};

// Each column a player.
Players column_players(const std::vector<std::string>& feature_names);
// Each feature group of the data a player.
Players group_players(const Dataset& data);
// Squares of side x side pixels, named "rows 0-3, columns 4-7", of an image whose rows are [height, width] or
// [channels, height, width]; all channels of a pixel go together. An input error when rows are no images.
Players grid_players(const std::vector<size_t>& item_shape, size_t side);
// From JSON: {"name": ["column", ...], ...}. A column in no group is a player of its own. Players are in the order of
// their first column. `where` names the file. The text is not trusted: everything in it is checked.
Players players_from_json(std::string_view where, std::string_view text, const std::vector<std::string>& feature_names);

// From the user's word: "auto" (the feature groups of the data), "none" (columns), "grid:4" (squares of an image of
// this shape), or else the name of a JSON file of groups.
Players choose_players(const std::string& word, const Dataset& data, const std::vector<size_t>& item_shape,
                       const Context& context);

// The columns that a JSON file of groups names; none for the other words. What is wrong with the file is left to
// choose_players.
std::vector<std::string> columns_in_groups(const std::string& word, const Context& context);

// by_player[i][p] = sum over p's columns of by_column[i][c], in float64.
void sum_by_player(const Players& players, MatrixView<const float> by_column, MatrixView<float> by_player);

}  // namespace assay

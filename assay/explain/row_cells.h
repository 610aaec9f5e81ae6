// The values of a row's players for people to read: numbers, names of categories, pixels.
//
// Numbers are in the user's units, whatever an encoder made of them, and a cell that was missing in the user's table is
// missing here, although the encoder put something in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/data/row_column.h"
#include "assay/explain/players.h"

namespace assay {

class RowCells {
 public:
  // Both must outlive this. Finds the least and largest values over all rows of the data.
  RowCells(const Dataset& data, const Players& players);

  size_t players() const { return columns_.size(); }
  // A number, a category's name, "missing", or "none" (a group of zeros). Of several other columns, the first three.
  std::string text(size_t row, size_t player) const;
  // For a number, where it lies between the least (0) and the largest (1) of the data. NaN if it is missing, if all
  // rows have one number, for categories, which have no order, and for other players of several columns.
  double scale(size_t row, size_t player) const;
  // All values of a player. Nothing if it has several columns that stand for no category.
  std::optional<RowColumn> column(size_t player, const std::string& name) const;
  bool is_category(size_t player) const { return levels(player) != nullptr; }
  // The names of a category's levels; null if the player is not one.
  const std::vector<std::string>* levels(size_t player) const;
  // Which of them the row has; nothing if it is missing or none of them.
  std::optional<size_t> level(size_t row, size_t player) const;
  // Whether the player is one column of numbers.
  bool is_number(size_t player) const { return columns_[player].size() == 1 && !is_category(player); }
  // All columns as 0 to 255. Values stay as they are if the data go beyond 1 and lie within that; else they are scaled.
  std::vector<int> pixels(size_t row) const;

 private:
  const FeatureGroup* group_of(size_t player) const;
  // Whether the user's cell behind this column was missing, whatever the model sees in its place.
  bool was_missing(size_t row, size_t column) const;
  std::string column_text(size_t row, size_t column) const;
  // As it was before an encoder scaled it.
  float own_cell(size_t row, size_t column) const;
  // Nothing if the values stand for no level.
  std::optional<size_t> level_of(size_t row, const FeatureGroup& group) const;

  const Dataset& data_;
  std::vector<std::vector<uint32_t>> columns_;  // by player
  std::vector<const FeatureGroup*> groups_;     // by column; null if it is in no group
  std::vector<float> least_;                    // by column; NaN if all values are missing
  std::vector<float> largest_;
};

struct ImageShape {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 1;
};

// The image shape if players are the pixels of images: `shape` is then [height, width] or [channels, height, width].
std::optional<ImageShape> image_shape(std::span<const size_t> shape, const Players& players);

}  // namespace assay

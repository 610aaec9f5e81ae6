// What the players of a row are, as people read it: the number, the name of the category, the pixels.
//
// Values are those that the model sees, so that a column which the encoder standardised shows its standardised number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/explain/players.h"

namespace assay {

class RowCells {
 public:
  // Both must outlive this. The least and largest values are taken over all rows of the data.
  RowCells(const Dataset& data, const Players& players);

  size_t players() const { return columns_.size(); }
  // A number, the level of a category, "missing"; for players of several columns the first three of them.
  std::string text(size_t row, size_t player) const;
  // Where the value lies between the least and the largest of the data, 0 to 1. NaN where it is missing, where all rows
  // have one value, for players of several columns, and for categories of more than two levels, which have no order.
  double scale(size_t row, size_t player) const;
  // Of all columns, 0 to 255: as they are where the data lie within that and go beyond 1, else least to largest.
  std::vector<int> pixels(size_t row) const;

 private:
  const FeatureGroup* group_of(size_t player) const;
  std::string column_text(size_t row, size_t column) const;

  const Dataset& data_;
  std::vector<std::vector<uint32_t>> columns_;  // of each player
  std::vector<const FeatureGroup*> groups_;     // of each column; null where there is none
  std::vector<float> least_;                    // of each column; NaN where all are missing
  std::vector<float> largest_;
};

struct ImageShape {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 1;
};

// Of rows whose players are the pixels of images: shape is [height, width] or [channels, height, width].
std::optional<ImageShape> image_shape(std::span<const size_t> shape, const Players& players);

}  // namespace assay

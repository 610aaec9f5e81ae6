#include "assay/explain/row_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/data/io/number.h"

namespace assay {
namespace {

constexpr size_t kMostColumns = 3;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// The level that these one-hot values stand for; nothing if they are not one-hot.
std::optional<size_t> hot_level(std::span<const float> values) {
  const auto hot = std::ranges::find(values, 1.0F);
  if (hot == values.end()) return {};
  const auto zeros = std::ranges::count(values, 0.0F);
  if (static_cast<size_t>(zeros) + 1 != values.size()) return {};
  return static_cast<size_t>(hot - values.begin());
}

// The level with this code; nothing if there is none.
std::optional<size_t> coded_level(const FeatureGroup& group, float code) {
  const std::vector<std::string>* const levels = group.shown_levels();
  if (levels == nullptr || !(code >= 0) || code != std::floor(code)) return {};
  if (code >= static_cast<float>(levels->size())) return {};
  return static_cast<size_t>(code);
}

}  // namespace

RowCells::RowCells(const Dataset& data, const Players& players)
    : data_(data),
      columns_(players.columns_of_players()),
      groups_(data.x.cols(), nullptr),
      least_(data.x.cols(), std::numeric_limits<float>::quiet_NaN()),
      largest_(least_) {
  for (const FeatureGroup& group : data.groups) {
    for (size_t c = group.first; c < std::min(group.first + group.count, groups_.size()); c++) groups_[c] = &group;
  }
  for (size_t row = 0; row < data.rows(); row++) {
    const std::span<const float> values = data.x.row(row);
    for (size_t c = 0; c < values.size(); c++) {
      least_[c] = std::fmin(least_[c], values[c]);
      largest_[c] = std::fmax(largest_[c], values[c]);
    }
  }
}

// The feature group that has exactly the player's columns; null if there is none.
const FeatureGroup* RowCells::group_of(size_t player) const {
  const std::vector<uint32_t>& columns = columns_[player];
  if (columns.empty()) return nullptr;
  const FeatureGroup* group = groups_[columns[0]];
  const bool whole = group != nullptr && columns.size() == group->count && columns.front() == group->first &&
                     columns.back() + 1 == group->first + group->count;
  return whole ? group : nullptr;
}

bool RowCells::was_missing(size_t row, size_t column) const {
  const size_t first = groups_[column] == nullptr ? column : groups_[column]->first;
  const auto found = data_.imputed.find(first);
  return found != data_.imputed.end() && found->second[row];
}

std::string RowCells::column_text(size_t row, size_t column) const {
  const float value = data_.x(row, column);
  if (std::isnan(value) || was_missing(row, column)) return "missing";
  const FeatureGroup* group = groups_[column];
  if (group != nullptr && group->count == 1) {
    if (const auto level = coded_level(*group, own_cell(row, column))) return (*group->shown_levels())[*level];
  }
  const auto shown = data_.shown.find(column);
  return shown != data_.shown.end() ? fmt::format("{}", shown->second[row]) : number_text(own_cell(row, column));
}

float RowCells::own_cell(size_t row, size_t column) const {
  const float value = data_.x(row, column);
  const auto scale = data_.scaled.find(column);
  return scale == data_.scaled.end() ? value : unscaled(value, scale->second);
}

std::optional<size_t> RowCells::level_of(size_t row, const FeatureGroup& group) const {
  if (group.count == 1) return coded_level(group, own_cell(row, group.first));
  return group.levels.size() == group.count ? hot_level(data_.x.row(row).subspan(group.first, group.count))
                                            : std::nullopt;
}

std::string RowCells::text(size_t row, size_t player) const {
  const std::vector<uint32_t>& columns = columns_[player];
  if (const FeatureGroup* group = group_of(player); group != nullptr && group->count > 1) {
    const std::span<const float> values = data_.x.row(row).subspan(group->first, group->count);
    if (was_missing(row, group->first)) return "missing";
    if (std::ranges::all_of(values, [](float value) { return std::isnan(value); })) return "missing";
    if (const auto level = level_of(row, *group)) return group->levels[*level];
    if (std::ranges::all_of(values, [](float value) { return value == 0; })) return "none";
  }
  std::string out;
  for (size_t i = 0; i < std::min(columns.size(), kMostColumns); i++) {
    if (i > 0) out += ", ";
    out += column_text(row, columns[i]);
  }
  return columns.size() > kMostColumns ? out + ", ..." : out;
}

const std::vector<std::string>* RowCells::levels(size_t player) const {
  const FeatureGroup* group = group_of(player);
  return group != nullptr ? group->shown_levels() : nullptr;
}

std::optional<size_t> RowCells::level(size_t row, size_t player) const {
  if (!is_category(player)) return {};
  const FeatureGroup& group = *group_of(player);
  if (was_missing(row, group.first)) return {};
  return level_of(row, group);
}

double RowCells::scale(size_t row, size_t player) const {
  if (!is_number(player)) return kUndefined;
  const size_t column = columns_[player][0];
  if (was_missing(row, column)) return kUndefined;
  const double value = data_.x(row, column);
  const double least = least_[column];
  const double range = static_cast<double>(largest_[column]) - least;
  if (!std::isfinite(value) || !(range > 0) || !std::isfinite(range)) return kUndefined;
  return (value - least) / range;
}

std::optional<RowColumn> RowCells::column(size_t player, const std::string& name) const {
  RowColumn made{.name = name};
  if (const std::vector<std::string>* const names = levels(player); names != nullptr) {
    made.kind = ColumnKind::categorical;
    made.levels = *names;
    for (size_t row = 0; row < data_.rows(); row++) {
      if (const auto level = this->level(row, player)) {
        made.values.push_back(static_cast<double>(*level));
        continue;
      }
      // What is no level is called as `text` calls it.
      const std::string other = text(row, player);
      if (other == "missing") {
        made.values.push_back(kUndefined);
        continue;
      }
      const auto known = std::ranges::find(made.levels, other);
      made.values.push_back(static_cast<double>(known - made.levels.begin()));
      if (known == made.levels.end()) made.levels.push_back(other);
    }
    return made;
  }
  if (columns_[player].size() != 1) return {};
  const size_t column = columns_[player][0];
  const auto shown = data_.shown.find(column);
  const auto scale = data_.scaled.find(column);
  for (size_t row = 0; row < data_.rows(); row++) {
    const float value = data_.x(row, column);
    const double cell = shown != data_.shown.end()    ? shown->second[row]
                        : scale != data_.scaled.end() ? unscaled(value, scale->second)
                                                      : value;
    made.values.push_back(was_missing(row, column) ? kUndefined : cell);
  }
  return made;
}

std::vector<int> RowCells::pixels(size_t row) const {
  float least = std::numeric_limits<float>::quiet_NaN();
  float largest = least;
  for (const float each : least_) least = std::fmin(least, each);
  for (const float each : largest_) largest = std::fmax(largest, each);
  const bool bytes = least >= 0 && largest > 1 && largest <= 255;
  const double low = bytes ? 0 : least;
  const double range = bytes ? 255 : static_cast<double>(largest) - low;
  std::vector<int> out;
  for (const float value : data_.x.row(row)) {
    const double share = (value - low) / range;
    // Missing values are black, and so are images with a single value.
    out.push_back(std::isfinite(share) ? static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 255)) : 0);
  }
  return out;
}

std::optional<ImageShape> image_shape(std::span<const size_t> shape, const Players& players) {
  if ((shape.size() != 2 && shape.size() != 3) || !players.are_columns()) return {};
  const ImageShape found = {shape[shape.size() - 2], shape[shape.size() - 1], shape.size() == 3 ? shape[0] : 1};
  if (found.height * found.width * found.channels != players.size()) return {};
  return found;
}

}  // namespace assay

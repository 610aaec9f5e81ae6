#include "assay/explain/players.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr uint32_t kNobody = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMostGroupBytes = uint64_t{64} << 20;

// {"name": ["column", ...], ...} with every name once, which the JSON library itself does not ask for.
json parse_groups(std::string_view where, std::string_view text) {
  std::unordered_set<std::string> names;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth > (event == json::parse_event_t::array_start ? 1 : 0)) {
      fail_input(where, "a list of column names for each group", "JSON that is nested deeper");
    }
    if (event == json::parse_event_t::key && !names.insert(value.get<std::string>()).second) {
      fail_input(where, "each group once", fmt::format("{} twice", in_quotes(value.get<std::string>())));
    }
    return true;
  };
  json groups;
  try {
    groups = json::parse(text, watch);
  } catch (const json::parse_error& problem) {
    fail_input(where, "groups as JSON", fmt::format("an error at byte {}", problem.byte));
  } catch (const json::exception&) {
    fail_input(where, "groups as JSON", "a number out of range");
  }
  if (!groups.is_object())
    fail_input(where, "an object, {\"group\": [\"column\", ...], ...}", in_quotes(groups.dump()));
  return groups;
}

std::optional<size_t> whole_number(std::string_view text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

bool Players::are_columns() const {
  if (names.size() != of_column.size()) return false;
  for (size_t c = 0; c < of_column.size(); c++) {
    if (of_column[c] != c) return false;
  }
  return true;
}

std::vector<std::vector<uint32_t>> Players::columns_of_players() const {
  std::vector<std::vector<uint32_t>> columns(names.size());
  for (size_t c = 0; c < of_column.size(); c++) columns[of_column[c]].push_back(static_cast<uint32_t>(c));
  return columns;
}

Players column_players(const std::vector<std::string>& feature_names) {
  Players players;
  players.names = feature_names;
  for (size_t c = 0; c < feature_names.size(); c++) players.of_column.push_back(static_cast<uint32_t>(c));
  return players;
}

Players group_players(const Dataset& data) {
  Players players;
  for (const FeatureGroup& group : data.groups) {
    players.of_column.insert(players.of_column.end(), group.count, static_cast<uint32_t>(players.names.size()));
    players.names.push_back(group.name);
  }
  return players;
}

Players grid_players(const std::vector<size_t>& item_shape, size_t side) {
  if (item_shape.size() != 2 && item_shape.size() != 3) {
    std::vector<std::string> sizes;
    for (const size_t size : item_shape) sizes.push_back(fmt::format("{}", size));
    fail_input("grid", "rows that are images, height x width or channels x height x width",
               item_shape.empty() ? "rows without a shape" : fmt::format("rows of {}", fmt::join(sizes, " x ")));
  }
  if (side == 0) fail_input("grid", "squares of 1 pixel or more", "0");
  const size_t channels = item_shape.size() == 3 ? item_shape[0] : 1;
  const size_t height = item_shape[item_shape.size() - 2];
  const size_t width = item_shape[item_shape.size() - 1];
  // The last square of a row or column may be cut off. Not (width + side - 1) / side, which a huge side overflows.
  const auto squares = [side](size_t pixels) { return pixels / side + (pixels % side > 0 ? 1 : 0); };
  const auto range = [side](size_t square, size_t pixels) {
    return fmt::format("{}-{}", square * side, std::min(pixels - square * side, side) + square * side - 1);
  };
  Players players;
  for (size_t y = 0; y < squares(height); y++) {
    for (size_t x = 0; x < squares(width); x++) {
      players.names.push_back(fmt::format("rows {}, columns {}", range(y, height), range(x, width)));
    }
  }
  players.of_column.reserve(channels * height * width);
  for (size_t channel = 0; channel < channels; channel++) {
    for (size_t y = 0; y < height; y++) {
      for (size_t x = 0; x < width; x++) {
        players.of_column.push_back(static_cast<uint32_t>(y / side * squares(width) + x / side));
      }
    }
  }
  return players;
}

Players players_from_json(std::string_view where, std::string_view text,
                          const std::vector<std::string>& feature_names) {
  const json groups = parse_groups(where, text);
  std::unordered_map<std::string_view, uint32_t> column_of;
  for (size_t c = 0; c < feature_names.size(); c++) column_of.emplace(feature_names[c], static_cast<uint32_t>(c));
  // Numbers of groups first, in the order of JSON's keys; they are renumbered by first column below.
  std::vector<std::string> group_names;
  std::vector<uint32_t> group_of(feature_names.size(), kNobody);
  for (const auto& [name, columns] : groups.items()) {
    const std::string at = fmt::format("{}, group {}", where, in_quotes(name));
    if (!columns.is_array() || columns.empty()) fail_input(at, "a list of its columns", in_quotes(columns.dump()));
    for (const json& column : columns) {
      if (!column.is_string()) fail_input(at, "names of columns", in_quotes(column.dump()));
      const auto& column_name = column.get_ref<const std::string&>();
      const auto found = column_of.find(column_name);
      if (found == column_of.end()) {
        fail_input(at, "columns of the rows",
                   fmt::format("{}{}", in_quotes(column_name), suggestion(column_name, feature_names)));
      }
      if (uint32_t& group = group_of[found->second]; group == kNobody) {
        group = static_cast<uint32_t>(group_names.size());
      } else {
        fail_input(at, "columns that are in no other group and named once", in_quotes(column_name));
      }
    }
    group_names.push_back(name);
  }
  Players players;
  std::vector<uint32_t> player_of(group_names.size(), kNobody);
  std::unordered_set<std::string_view> taken;
  for (size_t c = 0; c < feature_names.size(); c++) {
    const auto next = static_cast<uint32_t>(players.names.size());
    uint32_t own = kNobody;
    uint32_t& player = group_of[c] == kNobody ? own : player_of[group_of[c]];
    if (player == kNobody) {
      player = next;
      const std::string& name = group_of[c] == kNobody ? feature_names[c] : group_names[group_of[c]];
      if (!taken.insert(name).second) {
        fail_input(where, "groups that are not called like a column outside of them", in_quotes(name));
      }
      players.names.push_back(name);
    }
    players.of_column.push_back(player);
  }
  return players;
}

Players choose_players(const std::string& word, const Dataset& data, const std::vector<size_t>& item_shape,
                       const Context& context) {
  constexpr std::string_view kGrid = "grid:";
  if (word == "auto") return group_players(data);
  if (word == "none") return column_players(data.feature_names);
  if (word.starts_with(kGrid)) {
    const auto side = whole_number(std::string_view(word).substr(kGrid.size()));
    if (!side || *side == 0) {
      fail_input("groups", "grid:N with the N pixels that a square is wide, 1 or more", in_quotes(word));
    }
    Players players = grid_players(item_shape, *side);
    if (players.columns() != data.x.cols()) {
      fail_input("groups", fmt::format("images of {} values", players.columns()),
                 fmt::format("rows of {}", data.x.cols()));
    }
    return players;
  }
  return players_from_json(word, read_all(*open_bytes(word, context), kMostGroupBytes), data.feature_names);
}

std::vector<std::string> columns_in_groups(const std::string& word, const Context& context) {
  if (word.empty() || word == "auto" || word == "none" || word.starts_with("grid:")) return {};
  const json groups = json::parse(read_all(*open_bytes(word, context), kMostGroupBytes), nullptr, false);
  std::vector<std::string> found;
  if (!groups.is_object()) return found;
  for (const json& columns : groups) {
    for (const json& column : columns) {
      if (column.is_string()) found.push_back(column.get<std::string>());
    }
  }
  return found;
}

void sum_by_player(const Players& players, MatrixView<const float> by_column, MatrixView<float> by_player) {
  std::vector<double> sums(players.size());
  for (size_t i = 0; i < by_column.rows(); i++) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const auto columns = by_column.row(i);
    for (size_t c = 0; c < columns.size(); c++) sums[players.of_column[c]] += static_cast<double>(columns[c]);
    std::transform(sums.begin(), sums.end(), by_player.row(i).begin(),
                   [](double sum) { return static_cast<float>(sum); });
  }
}

}  // namespace assay

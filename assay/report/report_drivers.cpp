#include "assay/report/report_drivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/statistics.h"
#include "assay/core/table_text.h"
#include "assay/explain/row_cells.h"
#include "assay/report/json_text.h"
#include "assay/study/trends.h"

namespace assay {
namespace {

constexpr size_t kDriversInPicture = 20;
// Below this correlation, higher values neither raise nor lower the explained value.
constexpr double kClearTrend = 0.3;

// The mean over fewer rows, or a smaller share of few rows, says nothing of a level.
constexpr size_t kRowsOfLevel = 10;
constexpr size_t kShareOfLevel = 10;  // one of so many

// Of a category: the levels whose rows have the largest and the smallest mean attribution, among those of enough rows.
std::string level_words(const Explanations& made, size_t player, const RowCells& cells) {
  const std::vector<std::string>* names = cells.levels(player);
  if (names == nullptr) return {};
  std::vector<RunningMoments> levels(names->size());
  for (size_t row = 0; row < made.rows(); row++) {
    const auto level = cells.level(row, player);
    const double value = made.values(row, player);
    if (level && std::isfinite(value)) levels[*level].add(value);
  }
  const size_t needed = std::clamp<size_t>(made.rows() / kShareOfLevel, 1, kRowsOfLevel);
  std::optional<size_t> most;
  std::optional<size_t> least;
  for (size_t l = 0; l < levels.size(); l++) {
    if (levels[l].count() < needed) continue;
    if (!most || levels[l].mean() > levels[*most].mean()) most = l;
    if (!least || levels[l].mean() < levels[*least].mean()) least = l;
  }
  const bool raises = most && levels[*most].mean() > 0;
  const bool lowers = least && levels[*least].mean() < 0;
  const std::string up = raises ? short_name((*names)[*most]) : std::string();
  const std::string down = lowers ? short_name((*names)[*least]) : std::string();
  if (raises && lowers) return fmt::format("{} raises, {} lowers it most", up, down);
  return raises   ? fmt::format("{} raises it most", up)
         : lowers ? fmt::format("{} lowers it most", down)
                  : std::string();
}

bool several_targets(const Explanations& made) {
  return std::ranges::adjacent_find(made.target, std::not_equal_to<>()) != made.target.end();
}

std::string words_from(const Explanations& made, const EntryAdvice& advice, const Driver& driver, const RowCells* cells,
                       bool category) {
  if (!advice.has_signs) return "a rank: it has no direction";
  if (several_targets(made)) return "differs between classes";
  if (category) {
    const std::string words =
        cells != nullptr && !has_slopes(made) ? level_words(made, driver.player, *cells) : std::string();
    return words.empty() ? "depends on the level" : words;
  }
  const std::string_view trend = trend_words(driver.trend);
  return trend.empty() ? "no clear direction" : fmt::format("{} it", trend);
}

}  // namespace

std::string_view trend_words(double trend) {
  if (!(std::fabs(trend) >= kClearTrend)) return {};
  return trend > 0 ? "higher raises" : "higher lowers";
}

std::string drivers_json(const StudyEntry& entry, const EntryAdvice& advice, const Subject& subject, bool show_levels) {
  const RowCells cells(*subject.rows, *subject.players);
  std::vector<std::string> parts;
  for (const Driver& driver : drivers_of(entry)) {
    if (parts.size() == kDriversInPicture) break;
    const std::string words = words_from(entry.explanations, advice, driver, show_levels ? &cells : nullptr,
                                         cells.is_category(driver.player));
    parts.push_back(json_object({{"feature", std::to_string(driver.player)},
                                 {"size", json_number(driver.size)},
                                 {"low", json_number(driver.interval.low)},
                                 {"high", json_number(driver.interval.high)},
                                 {"share", json_number(driver.share)},
                                 {"direction", json_text(words)}}));
  }
  return json_list(parts);
}

}  // namespace assay

#include "assay/archive/diff_outputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "assay/archive/diff.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/scores.h"

namespace assay {
namespace {

// The name of the class that a row is predicted to be; nothing if the explanations do not tell it. A margin does not:
// it may be one of two.
std::optional<std::string> predicted_name(const Explanations& made, size_t row) {
  const std::string& target = made.target_names[made.target[row]];
  if (made.provenance.target == kPredictedTarget) return target;
  const bool share = made.provenance.unit == "probability";
  if (made.target_names.size() != 2 || (!share && made.provenance.unit != "log_odds")) return {};
  return made.output[row] > (share ? 0.5 : 0) ? target : made.target_names[1 - made.target[row]];
}

bool has_outputs(const Explanations& made, size_t rows) {
  return made.output.size() == rows && made.target.size() == rows &&
         std::ranges::all_of(made.target, [&](uint32_t target) { return target < made.target_names.size(); });
}

// By player, its share of each row; NaN for rows without attributions.
std::map<std::string, std::vector<double>> shares_of(const Explanations& made) {
  std::vector<std::vector<double>> shares(made.players(), std::vector<double>(made.rows(), NAN));
  for (size_t r = 0; r < made.rows(); r++) {
    double sum = 0;
    for (const float value : made.values.row(r)) sum += std::fabs(static_cast<double>(value));
    if (!(sum > 0) || !std::isfinite(sum)) continue;
    for (size_t p = 0; p < made.players(); p++) shares[p][r] = std::fabs(static_cast<double>(made.values(r, p))) / sum;
  }
  std::map<std::string, std::vector<double>> named;
  for (size_t p = 0; p < made.players() && p < made.features.size(); p++)
    named[made.features[p]] = std::move(shares[p]);
  return named;
}

Scores mean_share(std::vector<double> shares) {
  Scores made;
  made.values = std::move(shares);
  summarise(made, {.draws = 0}, {});
  return made;
}

// Ranks by mean share; equal ones by name. Players without a share have none.
void rank_players(std::vector<DriverChange>& players, double DriverChange::* share, size_t DriverChange::* rank) {
  std::vector<size_t> order;
  for (size_t i = 0; i < players.size(); i++) {
    if (!std::isnan(players[i].*share)) order.push_back(i);
  }
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const double first = players[a].*share;
    const double second = players[b].*share;
    return first != second ? first > second : players[a].player < players[b].player;
  });
  for (size_t i = 0; i < order.size(); i++) players[order[i]].*rank = i + 1;
}

// Names that one study has from labels and the other from the model are no other classes.
bool same_classes(const Explanations& before, const Explanations& after) {
  return std::ranges::is_permutation(before.target_names, after.target_names);
}

}  // namespace

PredictionChanges prediction_changes(const Explanations& before, const Explanations& after) {
  PredictionChanges made;
  if (before.rows() != after.rows()) return made;
  made.rows = before.rows();
  if (!has_outputs(before, made.rows) || !has_outputs(after, made.rows)) return made;
  const bool one_unit = before.provenance.unit == after.provenance.unit;
  RunningMoments change;
  RunningMoments size;
  made.classes = made.rows > 0 && same_classes(before, after);
  for (size_t r = 0; r < made.rows; r++) {
    const auto first = predicted_name(before, r);
    const auto second = predicted_name(after, r);
    made.classes = made.classes && first && second;
    if (made.classes && *first != *second) made.other_class++;
    const bool same = before.target_names[before.target[r]] == after.target_names[after.target[r]];
    const double moved = std::fabs(after.output[r] - before.output[r]);
    if (!one_unit || !same || !std::isfinite(moved)) continue;
    made.same_target++;
    change.add(moved);
    size.add(std::fabs(before.output[r]));
  }
  if (!made.classes) made.other_class = 0;
  made.mean_change = change.mean();
  made.mean_size = size.mean();
  return made;
}

DriverChanges driver_changes(const std::string& explanation, const Explanations& before, const Explanations& after,
                             bool same_rows) {
  DriverChanges made{explanation, {}};
  auto first = shares_of(before);
  auto second = shares_of(after);
  std::vector<double> p_values;
  for (auto& [player, shares] : first) {
    const Scores own = mean_share(std::move(shares));
    DriverChange change{.player = player, .before = own.mean};
    const auto found = second.find(player);
    if (found == second.end()) {
      made.same_players = false;
    } else {
      const Scores other = mean_share(std::move(found->second));
      second.erase(found);
      change.after = other.mean;
      change.test = same_rows ? entry_comparison(other, own) : welch_comparison(other, own);
    }
    p_values.push_back(change.test.p_value);
    made.players.push_back(std::move(change));
  }
  for (auto& [player, shares] : second) {
    made.same_players = false;
    made.players.push_back({.player = player, .after = mean_share(std::move(shares)).mean});
    p_values.push_back(NAN);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (size_t i = 0; i < adjusted.size(); i++) made.players[i].adjusted_p = adjusted[i];
  rank_players(made.players, &DriverChange::before, &DriverChange::rank_before);
  rank_players(made.players, &DriverChange::after, &DriverChange::rank_after);
  const auto place = [](const DriverChange& each) {
    return std::pair(each.rank_before == 0, each.rank_before == 0 ? each.rank_after : each.rank_before);
  };
  std::ranges::stable_sort(made.players, {}, place);
  const auto in_both = [](const DriverChange& each) { return each.rank_before > 0 && each.rank_after > 0; };
  if (std::ranges::none_of(made.players, in_both)) made.explanation.clear();
  return made;
}

}  // namespace assay

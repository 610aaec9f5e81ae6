#include "assay/report/diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/archive/io/json_parts.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

// Changed drivers that are shown unless all are asked for.
constexpr size_t kMostDrivers = 10;

bool coverage_changed(const ScoreChange& score) { return score.before.coverage != score.after.coverage; }

std::string_view change_mark(const ScoreChange& score) {
  if (score.change == ChangeKind::unclear) return "not significant";
  if (score.change == ChangeKind::untested) return "not tested";
  if (score.change == ChangeKind::lost) return "undefined now";
  if (score.change == ChangeKind::gained) return "defined now";
  return change_name(score.change);
}

std::string p_text(double p) { return std::isnan(p) ? "-" : p < 1e-4 ? "< 0.0001" : number_text(p); }

std::string short_value(const InputChange& input, const std::string& value) {
  if (value.empty()) return "not given";
  return input.what.ends_with("sha256") ? one_line(value.substr(0, 12)) : short_name(value);
}

std::string score_table(const StudyDiff& diff, bool all) {
  std::vector<std::vector<std::string>> lines = {
      {"criterion", "explanation", "before", "after", "difference", "stderr", "p", "change"}};
  for (const ScoreChange& score : diff.scores) {
    if (!all && score.change == ChangeKind::same && !coverage_changed(score)) continue;
    std::string mark(change_mark(score));
    if (coverage_changed(score)) {
      mark += fmt::format("; coverage {:.4g} -> {:.4g} %", 100 * score.before.coverage, 100 * score.after.coverage);
    }
    lines.push_back({short_name(score.criterion_spec), short_name(score.explanation), number_text(score.before.mean),
                     number_text(score.after.mean), number_text(score.test.difference), number_text(score.test.error),
                     p_text(score.adjusted_p), mark});
  }
  return lines.size() > 1 ? fmt::format("\n{}", aligned(lines, {0, 1, 7})) : std::string();
}

// Criteria with one reason on one line.
std::string not_compared_text(const StudyDiff& diff) {
  std::string text;
  for (size_t from = 0; from < diff.not_compared.size();) {
    std::vector<std::string> names;
    const std::string& reason = diff.not_compared[from].reason;
    for (; from < diff.not_compared.size() && diff.not_compared[from].reason == reason; from++) {
      names.push_back(short_name(diff.not_compared[from].criterion));
    }
    text += fmt::format("not compared: {}, because {}\n", joined(names), one_line(reason));
  }
  return text;
}

std::string predictions_text(const PredictionChanges& changes) {
  std::vector<std::string> parts;
  if (changes.classes) {
    parts.push_back(fmt::format("{} of {} predicted to be of another class", with_commas(changes.other_class),
                                plural(changes.rows, "row")));
  }
  if (changes.same_target > 0) {
    parts.push_back(fmt::format("the output changed by {} on average, of {}{}", number_text(changes.mean_change),
                                number_text(changes.mean_size),
                                changes.same_target < changes.rows
                                    ? fmt::format(" ({} with the same target)", plural(changes.same_target, "row"))
                                    : ""));
  }
  return parts.empty() ? std::string() : fmt::format("predictions: {}\n", fmt::join(parts, "; "));
}

// all: also players whose share did not change significantly.
std::string drivers_text(const DriverChanges& drivers, bool all) {
  if (drivers.explanation.empty()) return {};
  std::vector<std::vector<std::string>> lines = {{"driver", "share before", "after", "rank", "p"}};
  size_t hidden = 0;
  for (const DriverChange& each : drivers.players) {
    const bool in_both = each.rank_before > 0 && each.rank_after > 0;
    if (!all && drivers.tested && in_both && !(each.adjusted_p < kSignificance)) continue;
    if (!all && lines.size() > kMostDrivers) {
      hidden++;
      continue;
    }
    const auto place = [](size_t rank) { return rank == 0 ? std::string("none") : fmt::format("{}", rank); };
    const auto share = [](double value) { return std::isnan(value) ? "-" : fmt::format("{:.3g} %", 100 * value); };
    const std::string rank = each.rank_before == each.rank_after
                                 ? place(each.rank_before)
                                 : fmt::format("{} -> {}", place(each.rank_before), place(each.rank_after));
    lines.push_back({short_name(each.player), share(each.before), share(each.after), rank,
                     in_both ? p_text(each.adjusted_p) : "-"});
  }
  if (lines.size() == 1) {
    return fmt::format("drivers by {}: no share of {} changed significantly\n", short_name(drivers.explanation),
                       plural(drivers.players.size(), "player"));
  }
  const std::string more = hidden == 0 ? std::string() : fmt::format("and {} more\n", hidden);
  return fmt::format("drivers by {}, by their mean share of |attribution|{}:\n{}{}", short_name(drivers.explanation),
                     drivers.tested ? "" : ", not tested", aligned(lines, {0, 3}), more);
}

std::string totals(const StudyDiff& diff) {
  std::vector<std::string> parts;
  for (const ChangeKind change : {ChangeKind::better, ChangeKind::worse, ChangeKind::different, ChangeKind::lost,
                                  ChangeKind::gained, ChangeKind::unclear, ChangeKind::untested, ChangeKind::same}) {
    const auto count = std::ranges::count(diff.scores, change, &ScoreChange::change);
    if (count == 0) continue;
    const std::string_view word = change == ChangeKind::unclear    ? "not significantly different"
                                  : change == ChangeKind::untested ? "different but not tested"
                                                                   : change_name(change);
    parts.push_back(fmt::format("{} {}", with_commas(static_cast<uint64_t>(count)), word));
  }
  if (parts.empty()) return "no score that both have\n";
  return fmt::format("{}: {}\n", plural(diff.scores.size(), "score"), joined(parts));
}

Json change_json(const ScoreChange& score) {
  return {{"criterion", score.criterion_spec},
          {"explanation", score.explanation},
          {"direction", direction_name(score.direction)},
          {"before", number(score.before.mean)},
          {"before_stderr", number(score.before.mean_error)},
          {"before_coverage", number(score.before.coverage)},
          {"after", number(score.after.mean)},
          {"after_stderr", number(score.after.mean_error)},
          {"after_coverage", number(score.after.coverage)},
          {"difference", number(score.test.difference)},
          {"stderr", number(score.test.error)},
          {"paired", score.test.paired},
          {"p", number(score.test.p_value)},
          {"p_adjusted", number(score.adjusted_p)},
          {"change", change_name(score.change)}};
}

Json predictions_json(const PredictionChanges& changes) {
  if (changes.rows == 0) return {};
  return {{"rows", changes.rows},
          {"other_class", changes.classes ? Json(changes.other_class) : Json()},
          {"same_target", changes.same_target},
          {"mean_change", number(changes.mean_change)},
          {"mean_size", number(changes.mean_size)}};
}

Json drivers_json(const DriverChanges& drivers) {
  if (drivers.explanation.empty()) return {};
  Json players = Json::array();
  for (const DriverChange& each : drivers.players) {
    players.push_back({{"player", each.player},
                       {"before", number(each.before)},
                       {"after", number(each.after)},
                       {"rank_before", each.rank_before == 0 ? Json() : Json(each.rank_before)},
                       {"rank_after", each.rank_after == 0 ? Json() : Json(each.rank_after)},
                       {"difference", number(each.test.difference)},
                       {"stderr", number(each.test.error)},
                       {"paired", each.test.paired},
                       {"p", number(each.test.p_value)},
                       {"p_adjusted", number(each.adjusted_p)}});
  }
  return {{"explanation", drivers.explanation}, {"players", players}};
}

}  // namespace

std::string diff_text(const StudyDiff& diff, bool all) {
  std::string text = fmt::format("{} -> {}\n", one_line(diff.before), one_line(diff.after));
  std::vector<std::vector<std::string>> lines;
  for (const InputChange& each : diff.inputs) {
    lines.push_back({short_name(each.what), short_value(each, each.before), "->", short_value(each, each.after)});
  }
  text += aligned(lines, {0, 1, 2, 3});
  for (const std::string& each : diff.only_before) text += fmt::format("only before: {}\n", one_line(each));
  for (const std::string& each : diff.only_after) text += fmt::format("only after: {}\n", one_line(each));
  for (const std::string& note : diff.notes) text += fmt::format("note: {}\n", one_line(note));
  text += fmt::format("{}\n", diff.rows_words);
  text += predictions_text(diff.predictions);
  text += drivers_text(diff.drivers, all);
  text += not_compared_text(diff);
  text += score_table(diff, all);
  return fmt::format("{}\n{}", text, totals(diff));
}

std::string diff_json(const StudyDiff& diff) {
  Json inputs = Json::array();
  for (const InputChange& each : diff.inputs) {
    const auto or_null = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
    inputs.push_back({{"what", each.what}, {"before", or_null(each.before)}, {"after", or_null(each.after)}});
  }
  Json scores = Json::array();
  for (const ScoreChange& score : diff.scores) scores.push_back(change_json(score));
  Json not_compared = Json::array();
  for (const NotCompared& each : diff.not_compared) {
    not_compared.push_back({{"criterion", each.criterion}, {"reason", each.reason}});
  }
  return dumped({{"before", diff.before},
                 {"after", diff.after},
                 {"same_rows", diff.same_rows},
                 {"rows", diff.rows_words},
                 {"worse", something_worse(diff)},
                 {"inputs", inputs},
                 {"only_before", diff.only_before},
                 {"only_after", diff.only_after},
                 {"predictions", predictions_json(diff.predictions)},
                 {"drivers", drivers_json(diff.drivers)},
                 {"not_compared", not_compared},
                 {"notes", diff.notes},
                 {"scores", scores}});
}

}  // namespace assay

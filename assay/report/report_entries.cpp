#include "assay/report/report_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/aggregate/aggregators.h"
#include "assay/core/table_text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/report/criterion_scales.h"
#include "assay/report/json_text.h"

namespace assay {
namespace {

std::string flag(bool value) { return value ? "true" : "false"; }

std::string title_of(const StudyEntry& entry) {
  const std::string name = entry.name.substr(0, entry.name.find(':'));
  const auto title = [&](const auto& table) {
    const auto found = std::ranges::find_if(table, [&](const auto& each) { return each.name == name; });
    return found == table.end() ? std::string() : found->title;
  };
  return entry.aggregate() ? title(aggregators()) : title(methods());
}

// Why values are undefined, or why there is no mean although they are defined.
std::optional<std::string> undefined_reason(const Scores& scores) {
  if (scores.undefined.size() == 1 && scores.coverage == 0) return scores.undefined[0].reason;
  std::vector<std::string> parts;
  for (const Undefined& each : scores.undefined) {
    parts.push_back(fmt::format("{}: {}", plural(each.rows, scores.of_rows ? "row" : "run"), each.reason));
  }
  if (scores.coverage > 0 && !std::isfinite(scores.mean)) parts.emplace_back("some scores are infinite");
  if (parts.empty()) return {};
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string scores_json(const StudyEntry& entry, size_t index, const Assessment& assessment) {
  std::vector<std::string> parts;
  for (size_t c = 0; c < entry.scores.size(); c++) {
    const Scores& scores = entry.scores[c];
    Standing standing = Standing::undefined;
    Interval behind = {NAN, NAN};
    for (const CriterionRanking& ranking : assessment.rankings) {
      if (ranking.criterion != c || !ranking.ranks) continue;
      standing = ranking.standing[index];
      behind = ranking.behind_interval[index];
    }
    const auto reason = undefined_reason(scores);
    parts.push_back(json_object({{"mean", json_number(scores.mean)},
                                 {"stderr", json_number(scores.mean_error)},
                                 {"low", json_number(scores.interval.low)},
                                 {"high", json_number(scores.interval.high)},
                                 {"coverage", json_number(scores.coverage)},
                                 {"standing", json_text(standing_name(standing))},
                                 {"behind_low", json_number(behind.low)},
                                 {"behind_high", json_number(behind.high)},
                                 {"reason", reason ? json_text(*reason) : "null"}}));
  }
  return json_list(parts);
}

}  // namespace

std::string shown_criteria_json(const Study& study) {
  const auto is_main = [](const std::string& name) { return role_of(name) != CriterionRole::none; };
  const bool none = std::ranges::none_of(study.criterion_names, is_main);
  std::vector<std::string> parts;
  for (size_t c = 0; c < study.criteria.size(); c++) {
    const std::string& name = study.criterion_names[c];
    const auto known = std::ranges::find(criteria(), name, &CriterionInfo::name);
    const bool found = known != criteria().end();
    const CriterionScale scale = criterion_scale(study, c, study.facts.features.size());
    parts.push_back(json_object({{"name", json_text(name)},
                                 {"spec", json_text(study.criteria[c])},
                                 {"title", json_text(found ? known->title : "")},
                                 {"family", json_text(found ? known->family : "")},
                                 {"direction", json_text(direction_name(study.directions[c]))},
                                 {"range", json_text(found ? known->range : "")},
                                 {"words", json_text(scale.words.empty() ? name : scale.words)},
                                 {"meaning", json_text(scale.meaning)},
                                 {"random", json_number(scale.random)},
                                 {"perfect", json_number(scale.perfect)},
                                 {"end", json_number(scale.end)},
                                 {"alike", flag(scale.alike)},
                                 {"main", flag(none || is_main(name))}}));
  }
  return json_list(parts);
}

std::string shown_entries_json(const Study& study, const Assessment& assessment, const StudyTimes& times) {
  std::vector<std::string> parts;
  for (size_t e = 0; e < study.entries.size(); e++) {
    const StudyEntry& entry = study.entries[e];
    const auto time = std::ranges::find(times.entries, entry.name, &EntryTimes::entry);
    const double seconds = time == times.entries.end() ? NAN : time->explaining + time->scoring;
    const bool dominated = e < assessment.dominated.size() && assessment.dominated[e];
    const std::string by = dominated ? json_text(study.entries[assessment.dominated_by[e]].name) : "null";
    const EntryAdvice advice =
        e < assessment.advice.entries.size() ? assessment.advice.entries[e] : EntryAdvice{.alias_of = e};
    parts.push_back(json_object({{"name", json_text(entry.name)},
                                 {"kind", json_text(entry.aggregate() ? "aggregate" : "method")},
                                 {"title", json_text(title_of(entry))},
                                 {"dominated", flag(dominated)},
                                 {"dominated_by", by},
                                 {"faithful", json_text(faithful_name(advice.faithful))},
                                 {"alias_of", advice.alias_of == e ? "null" : std::to_string(advice.alias_of)},
                                 {"complete", flag(advice.complete)},
                                 {"exact", flag(advice.exact)},
                                 {"has_signs", flag(advice.has_signs)},
                                 {"evaluations", std::to_string(entry.evaluations)},
                                 {"seconds", json_number(seconds)},
                                 {"scores", scores_json(entry, e, assessment)}}));
  }
  return json_list(parts);
}

}  // namespace assay

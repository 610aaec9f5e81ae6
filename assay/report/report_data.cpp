#include "assay/report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/aggregate/aggregators.h"
#include "assay/core/table_text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/report/agreement.h"
#include "assay/report/importance.h"
#include "assay/report/json_text.h"
#include "assay/report/report_facts.h"
#include "assay/report/report_rows.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

constexpr size_t kMostBytes = 10'000'000;
constexpr size_t kMostImportanceBytes = 3'000'000;
// Most values (rows x players) for agreement: about ten thousand rows of a table, or two hundred images.
constexpr size_t kMostRanked = 160'000;
constexpr size_t kLeastRankedRows = 20;

std::string flag(bool value) { return value ? "true" : "false"; }

std::string shown_criteria_json(const Study& study) {
  const auto is_main = [](const std::string& name) { return role_of(name) != CriterionRole::none; };
  const bool none = std::ranges::none_of(study.criterion_names, is_main);
  std::vector<std::string> parts;
  for (size_t c = 0; c < study.criteria.size(); c++) {
    const std::string& name = study.criterion_names[c];
    const auto known = std::ranges::find(criteria(), name, &CriterionInfo::name);
    const bool found = known != criteria().end();
    parts.push_back(json_object({{"name", json_text(name)},
                                 {"spec", json_text(study.criteria[c])},
                                 {"title", json_text(found ? known->title : "")},
                                 {"family", json_text(found ? known->family : "")},
                                 {"direction", json_text(direction_name(study.directions[c]))},
                                 {"range", json_text(found ? known->range : "")},
                                 {"main", flag(none || is_main(name))}}));
  }
  return json_list(parts);
}

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

std::string entries_json(const Study& study, const Assessment& assessment, const StudyTimes& times) {
  std::vector<std::string> parts;
  for (size_t e = 0; e < study.entries.size(); e++) {
    const StudyEntry& entry = study.entries[e];
    const auto time = std::ranges::find(times.entries, entry.name, &EntryTimes::entry);
    const double seconds = time == times.entries.end() ? NAN : time->explaining + time->scoring;
    const bool dominated = e < assessment.dominated.size() && assessment.dominated[e];
    const std::string by = dominated ? json_text(study.entries[assessment.dominated_by[e]].name) : "null";
    parts.push_back(json_object({{"name", json_text(entry.name)},
                                 {"kind", json_text(entry.aggregate() ? "aggregate" : "method")},
                                 {"title", json_text(title_of(entry))},
                                 {"dominated", flag(dominated)},
                                 {"dominated_by", by},
                                 {"evaluations", std::to_string(entry.evaluations)},
                                 {"seconds", json_number(seconds)},
                                 {"scores", scores_json(entry, e, assessment)}}));
  }
  return json_list(parts);
}

// The blocks of as many of the most frequent targets as fit, in order of the targets.
std::string importance_json(const Study& study, const Targets& targets, std::vector<std::string>& notes) {
  const std::vector<TargetRows> found = rows_by_target(targets.of_row);
  std::vector<size_t> order(found.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return found[a].rows.size() > found[b].rows.size(); });
  std::vector<std::pair<size_t, std::string>> blocks;
  size_t bytes = 0;
  for (const size_t i : order) {
    std::vector<std::string> means;
    for (const StudyEntry& entry : study.entries) {
      means.push_back(json_numbers(mean_absolute(entry.explanations.values, found[i].rows)));
    }
    std::string block = json_object({{"target", json_text(cut_text(targets.names[found[i].target], kLongestName))},
                                     {"rows", std::to_string(found[i].rows.size())},
                                     {"mean_abs", json_list(means)}});
    bytes += block.size();
    if (bytes > kMostImportanceBytes) break;
    blocks.emplace_back(i, std::move(block));
  }
  if (blocks.size() < found.size()) {
    notes.push_back(fmt::format("this report shows the importance of features for {} of {}, those of most rows",
                                blocks.size(), plural(found.size(), "target")));
  }
  std::ranges::sort(blocks);
  std::vector<std::string> parts;
  for (auto& [index, block] : blocks) parts.push_back(std::move(block));
  return json_list(parts);
}

std::string agreement_json(const Study& study, const Subject& subject) {
  const size_t players = std::max<size_t>(study.facts.features.size(), 1);
  const size_t most = std::max(kMostRanked / players, kLeastRankedRows);
  const std::vector<size_t> rows = sample_of_rows(subject, most, study.facts.seed);
  std::vector<const Matrix*> values;
  for (const StudyEntry& entry : study.entries) values.push_back(&entry.explanations.values);
  const Matrix64 found = mean_rank_agreement(values, rows);
  std::vector<std::string> lines;
  for (size_t e = 0; e < found.rows(); e++) lines.push_back(json_numbers(found.row(e)));
  const std::string over = rows.size() < study.rows()
                               ? fmt::format("{} of {}", with_commas(rows.size()), plural(study.rows(), "row"))
                               : fmt::format("all {}", plural(study.rows(), "row"));
  return json_object(
      {{"what", json_text(fmt::format("Spearman's correlation of the sizes of attributions, mean over {}", over))},
       {"matrix", json_list(lines)}});
}

std::string shown_curves_json(const Study& study) {
  std::vector<std::string> parts;
  for (size_t e = 0; e < study.entries.size(); e++) {
    for (const Curve& curve : study.entries[e].curves) {
      parts.push_back(json_object({{"entry", std::to_string(e)},
                                   {"criterion", json_text(curve.criterion)},
                                   {"along", json_text(curve.along)},
                                   {"x", json_numbers(curve.x)},
                                   {"mean", json_numbers(curve.mean)},
                                   {"error", json_numbers(curve.error)},
                                   {"coverage", json_numbers(curve.coverage)}}));
    }
  }
  return json_list(parts);
}

std::string features_json(const Study& study) {
  std::vector<std::string> names;
  for (const std::string& name : study.facts.features) names.push_back(cut_text(name, kLongestName));
  return json_texts(names);
}

std::optional<ImageShape> image_of(const Subject& subject) {
  const std::vector<size_t>& shape = subject.model->info().item_shape;
  return image_shape(shape.empty() ? subject.rows->item_shape : shape, *subject.players);
}

std::string image_json(const std::optional<ImageShape>& image) {
  if (!image) return "null";
  return fmt::format(R"({{"height":{},"width":{},"channels":{}}})", image->height, image->width, image->channels);
}

}  // namespace

std::string report_data_json(const Study& study, const Assessment& assessment, const StudyTimes& times,
                             const Subject& subject, const ReportOptions& options, const Context& context) {
  std::vector<std::string> notes = study.notes;
  std::vector<std::string> relative;
  for (const StudyEntry& entry : study.entries) relative.push_back(flag(entry.explanations.combination.relative));
  const std::optional<ImageShape> image = image_of(subject);
  const std::string importance = importance_json(study, *subject.targets, notes);
  JsonMembers fields = {{"schema", json_text("assay.report/1")},
                        {"version", json_text(study.facts.version)},
                        {"title", json_text(study.facts.title)},
                        {"verdict", json_texts(assessment.verdict)},
                        {"warnings", json_texts(assessment.warnings)},
                        {"notes", json_texts(notes)},
                        {"criteria", shown_criteria_json(study)},
                        {"entries", entries_json(study, assessment, times)},
                        {"features", features_json(study)},
                        {"importance", importance},
                        {"relative", json_list(relative)},
                        {"agreement", agreement_json(study, subject)},
                        {"curves", shown_curves_json(study)},
                        {"image", image_json(image)},
                        {"rows_total", std::to_string(study.rows())},
                        {"cells", flag(options.cells)},
                        {"facts", json_pairs(fact_pairs(study))},
                        {"settings", json_pairs(study.facts.settings)},
                        {"inputs", json_of_inputs(study)},
                        {"left_out", json_of_left_out(study)},
                        {"run", json_pairs(run_pairs(times))}};
  size_t used = 1000;  // allowance for field names and all that follows, except rows
  for (const auto& [name, value] : fields) used += value.size();
  const ShownRows shown = shown_rows(study, subject, options, image ? &*image : nullptr,
                                     used < kMostBytes ? kMostBytes - used : 0, context);
  fields.emplace_back("rows_shown", std::to_string(shown.rows.size()));
  fields.emplace_back("rows_words", json_text(shown.words));
  fields.emplace_back("rows", json_list(shown.rows));
  return json_object(fields);
}

}  // namespace assay

#include "assay/report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/table_text.h"
#include "assay/report/agreement.h"
#include "assay/report/cohorts_text.h"
#include "assay/report/dependence.h"
#include "assay/report/importance.h"
#include "assay/report/json_text.h"
#include "assay/report/page_sentences.h"
#include "assay/report/quality_text.h"
#include "assay/report/report_drivers.h"
#include "assay/report/report_entries.h"
#include "assay/report/report_facts.h"
#include "assay/report/report_rows.h"

namespace assay {
namespace {

// Beside plotly.js, which has 4.7 MB, so that a page stays below 8 MB.
constexpr size_t kMostBytes = 3'000'000;
constexpr size_t kMostImportanceBytes = 800'000;
constexpr int kDigitsOfLimits = 4;  // of intervals
// Most values (rows x players) for agreement: about ten thousand rows of a table, or two hundred images.
constexpr size_t kMostRanked = 160'000;
constexpr size_t kLeastRankedRows = 20;
constexpr size_t kMostLevels = 60;  // of a category that are named

// The blocks of as many of the most frequent targets as fit, in order of the targets.
// Of images without intervals: a map shows none.
std::string importance_json(const Study& study, const Targets& targets, bool image, std::vector<std::string>& notes) {
  const std::vector<TargetRows> found = rows_by_target(targets.of_row);
  std::vector<size_t> order(found.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return found[a].rows.size() > found[b].rows.size(); });
  std::vector<std::pair<size_t, std::string>> blocks;
  size_t bytes = 0;
  for (const size_t i : order) {
    std::vector<std::string> means;
    std::vector<std::string> lows;
    std::vector<std::string> highs;
    for (const StudyEntry& entry : study.entries) {
      const MeanSizes sizes = mean_absolute(entry.explanations.values, found[i].rows);
      means.push_back(image ? json_steps(sizes.mean) : json_numbers(sizes.mean));
      lows.push_back(json_numbers(sizes.low, kDigitsOfLimits));
      highs.push_back(json_numbers(sizes.high, kDigitsOfLimits));
    }
    JsonMembers fields = {{"target", json_text(cut_text(targets.names[found[i].target], kLongestName))},
                          {"rows", std::to_string(found[i].rows.size())},
                          {"mean_abs", json_list(means)}};
    if (!image) {
      fields.emplace_back("low", json_list(lows));
      fields.emplace_back("high", json_list(highs));
    }
    std::string block = json_object(fields);
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

// How the page shows each feature: "number", "category" or "other", and the names of a category's levels.
std::string kinds_json(const Subject& subject) {
  const RowCells cells(*subject.rows, *subject.players);
  std::vector<std::string> kinds;
  for (size_t p = 0; p < cells.players(); p++) {
    kinds.emplace_back(cells.is_category(p) ? "category" : cells.is_number(p) ? "number" : "other");
  }
  return json_texts(kinds);
}

std::string levels_json(const Subject& subject) {
  const RowCells cells(*subject.rows, *subject.players);
  std::vector<std::string> lists;
  for (size_t p = 0; p < cells.players(); p++) {
    std::vector<std::string> names;
    if (cells.is_category(p)) {
      for (const std::string& name : *cells.levels(p)) names.push_back(cut_text(name, kLongestCell));
    }
    if (names.size() > kMostLevels) names.resize(kMostLevels);
    lists.push_back(cells.is_category(p) ? json_texts(names) : "null");
  }
  return json_list(lists);
}

std::string sentences_json(const FactPairs& sentences) {
  std::vector<std::string> parts;
  for (const auto& [label, text] : sentences) {
    parts.push_back(json_object({{"label", json_text(label)}, {"text", json_text(text)}}));
  }
  return json_list(parts);
}

std::string index_or_null(const std::optional<size_t>& index) { return index ? std::to_string(*index) : "null"; }

// Which entry is recommended for what.
std::string uses_json(const Advice& advice) {
  const auto entry_of = [](const std::optional<Recommendation>& made) {
    return made ? std::to_string(made->entry) : std::string("null");
  };
  return json_object({{"overall", entry_of(advice.overall)},
                      {"faithfulness", entry_of(advice.faithfulness)},
                      {"stability", entry_of(advice.stability)},
                      {"simplicity", entry_of(advice.simplicity)}});
}

// The unit of what is explained, and what the model gives at the reference.
std::string explained_json(const StudyFacts& facts) {
  return json_object({{"value", json_text(explained_value(facts))},
                      {"unit", json_text(facts.unit)},
                      {"target", json_text(facts.target)},
                      {"reference", json_text(facts.reference)},
                      {"reference_value", json_number(facts.reference_facts.value)},
                      {"reference_probability", json_number(facts.reference_facts.probability)},
                      {"background", facts.reference_facts.background() ? "true" : "false"}});
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
  for (const StudyEntry& entry : study.entries) {
    relative.emplace_back(entry.explanations.combination.relative ? "true" : "false");
  }
  const std::optional<ImageShape> image = image_of(subject);
  const std::string importance = importance_json(study, *subject.targets, image.has_value(), notes);
  const Advice& advice = assessment.advice;
  const std::optional<size_t> recommended =
      advice.overall ? std::optional<size_t>(advice.overall->entry) : std::nullopt;
  const std::optional<size_t> opened = options.opened ? options.opened : recommended;
  const bool described = opened && *opened < advice.entries.size();
  JsonMembers fields = {
      {"schema", json_text("assay.report/1")},
      {"version", json_text(study.facts.version)},
      {"title", json_text(study.facts.title)},
      {"headline", json_text(page_title(study.facts))},
      {"sentences", sentences_json(page_sentences(study, assessment, times, described ? opened : std::nullopt))},
      {"quality", json_text(quality_sentence(study.facts))},
      {"explained", explained_json(study.facts)},
      {"recommended", index_or_null(recommended)},
      {"opened", index_or_null(opened)},
      {"uses", uses_json(advice)},
      {"margin", json_number(advice.options.margin)},
      {"drivers",
       described ? drivers_json(study.entries[*opened], advice.entries[*opened], subject, options.cells) : "null"},
      {"verdict", json_texts(assessment.verdict)},
      {"warnings", json_texts(assessment.warnings)},
      {"next", json_texts(advice.next)},
      {"notes", json_texts(notes)},
      {"criteria", shown_criteria_json(study)},
      {"entries", shown_entries_json(study, assessment, times)},
      {"features", features_json(study)},
      {"kinds", kinds_json(subject)},
      {"levels", options.cells ? levels_json(subject) : "null"},
      {"importance", importance},
      {"relative", json_list(relative)},
      {"agreement", agreement_json(study, subject)},
      {"curves", shown_curves_json(study)},
      {"cohorts", shown_cohorts_json(study, assessment.advice, options.cells)},
      {"dependence", dependence_json(study, assessment.advice, subject)},
      {"image", image_json(image)},
      {"rows_total", std::to_string(study.rows())},
      {"cells", options.cells ? "true" : "false"},
      {"summary_only", options.summary ? "true" : "false"},
      {"facts", json_pairs(fact_pairs(study))},
      {"settings", json_pairs(study.facts.settings)},
      {"inputs", json_of_inputs(study)},
      {"left_out", json_of_left_out(study)},
      {"run", json_pairs(run_pairs(times))}};
  size_t used = 1000;  // allowance for field names and all that follows, except rows
  for (const auto& [name, value] : fields) used += value.size();
  const size_t left = options.summary || used >= kMostBytes ? 0 : kMostBytes - used;
  const ShownRows shown = shown_rows(study, subject, options, image ? &*image : nullptr, left, context);
  fields.emplace_back("rows_shown", std::to_string(shown.rows.size()));
  fields.emplace_back("rows_words", json_text(shown.words));
  fields.emplace_back("rows", json_list(shown.rows));
  return json_object(fields);
}

}  // namespace assay

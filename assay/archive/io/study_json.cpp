#include "assay/archive/io/study_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/archive/io/advice_json.h"
#include "assay/archive/io/cohorts_json.h"
#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/json_parts.h"
#include "assay/archive/io/quality_json.h"
#include "assay/archive/io/reference_json.h"
#include "assay/core/error.h"
#include "assay/evaluate/criteria.h"

namespace assay {
namespace {

constexpr std::string_view kStudySchema = "assay.study/2";

// Sorted by name: files of explanations do not keep the order, and a resumed study must have the same bytes.
Json sorted_options(std::vector<std::pair<std::string, std::string>> options) {
  std::ranges::sort(options);
  return options_json(options);
}

Json facts_json(const StudyFacts& facts) {
  return {{"title", facts.title},
          {"data", facts.data},
          {"pool", facts.pool},
          {"model", facts.model},
          {"unit", facts.unit},
          {"target", facts.target},
          {"reference", facts.reference},
          {"reference_facts", reference_facts_json(facts.reference_facts)},
          {"players", facts.players},
          {"target_names", facts.target_names},
          {"features", facts.features},
          {"rows", facts.rows},
          {"distinct_rows", facts.distinct_rows},
          {"rows_available", facts.rows_available},
          {"pool_rows", facts.pool_rows},
          {"pool_rows_available", facts.pool_rows_available},
          {"seed", facts.seed},
          {"accuracy", number(facts.accuracy)},
          {"quality", quality_json(facts.quality)},
          {"settings", pairs_json(facts.settings)},
          {"inputs", inputs_json(facts.inputs)},
          {"version", facts.version},
          {"vector_target", facts.vector_target}};
}

// The ranking by this criterion; null if there is none.
const CriterionRanking* ranking_of(const Assessment& assessment, size_t criterion) {
  for (const CriterionRanking& each : assessment.rankings) {
    if (each.criterion == criterion && each.ranks) return &each;
  }
  return nullptr;
}

Json criteria_json(const Study& study, const Assessment& assessment) {
  Json made = Json::array();
  for (size_t c = 0; c < study.criteria.size(); c++) {
    const CriterionInfo& info = find_criterion(study.criterion_names[c]);
    Json order = Json::array();
    if (const CriterionRanking* ranking = ranking_of(assessment, c)) {
      for (const size_t entry : ranking->order) order.push_back(study.entries[entry].name);
    }
    made.push_back({{"spec", study.criteria[c]},
                    {"name", info.name},
                    {"title", info.title},
                    {"family", info.family},
                    {"range", info.range},
                    {"direction", direction_name(study.directions[c])},
                    {"order", order}});
  }
  return made;
}

Json score_json(const Study& study, const Assessment& assessment, size_t entry, size_t criterion) {
  const Scores& scores = study.entries[entry].scores[criterion];
  const auto defined = std::ranges::count_if(scores.values, [](double value) { return !std::isnan(value); });
  const CriterionRanking* ranking = ranking_of(assessment, criterion);
  return {{"criterion", study.criteria[criterion]},
          {"options", sorted_options(scores.options)},
          {"mean", number(scores.mean)},
          {"stderr", number(scores.mean_error)},
          {"interval", interval_json(scores.interval)},
          {"coverage", number(scores.coverage)},
          {"per", scores.of_rows ? "row" : "run"},
          {"values", scores.values.size()},
          {"defined", defined},
          {"dependent", scores.dependent},
          {"shared_stderr", number(scores.shared_error)},
          {"evaluations", scores.evaluations},
          {"standing", ranking == nullptr ? Json() : Json(standing_name(ranking->standing[entry]))},
          {"behind", ranking == nullptr ? Json() : number(ranking->behind[entry])},
          {"behind_interval", ranking == nullptr ? Json() : interval_json(ranking->behind_interval[entry])},
          {"undefined", undefined_json(scores.undefined)},
          {"notes", scores.notes},
          {"tables", tables_json(scores.tables)}};
}

Json provenance_json(const Explanations& explanations) {
  const Provenance& made = explanations.provenance;
  return {{"method", made.method},
          {"options", sorted_options(made.options)},
          {"seed", made.seed},
          {"unit", made.unit},
          {"target", made.target},
          {"model", made.model},
          {"data", made.data},
          {"players", made.players},
          {"reference", made.reference},
          {"version", made.version},
          {"vector_target", made.vector_target},
          {"members", explanations.combination.members},
          {"relative", explanations.combination.relative},
          {"evaluations", explanations.evaluations}};
}

Json entry_summary_json(const Study& study, const Assessment& assessment, size_t index) {
  const StudyEntry& entry = study.entries[index];
  const bool dominated = index < assessment.dominated.size() && assessment.dominated[index];
  Json scores = Json::array();
  for (size_t c = 0; c < study.criteria.size(); c++) scores.push_back(score_json(study, assessment, index, c));
  return {{"name", entry.name},
          {"stem", entry.stem},
          {"kind", entry_kind_name(entry.kind)},
          {"provenance", provenance_json(entry.explanations)},
          {"evaluations", entry.evaluations},
          {"pool_rows", entry.pool_rows},
          {"notes", entry.explanations.notes},
          {"dominated", dominated},
          {"dominated_by", dominated ? Json(study.entries[assessment.dominated_by[index]].name) : Json()},
          {"scores", scores},
          {"curves", curves_json(entry.curves)},
          {"variations", variations_json(entry.variations)}};
}

// Throws an input error for a repeated name.
void require_new(const JsonFields& fields, std::set<std::string>& seen, const std::string& text, const char* key) {
  if (!seen.insert(text).second)
    fields.fail(fmt::format("each '{}' once", key), fmt::format("{} twice", in_quotes(text)));
}

std::vector<CriterionSummary> criteria_from(const JsonFields& document) {
  std::vector<CriterionSummary> criteria;
  std::set<std::string> specs;
  for (const JsonFields& fields : document.objects("criteria")) {
    CriterionSummary criterion;
    criterion.spec = fields.text("spec");
    require_new(fields, specs, criterion.spec, "spec");
    criterion.name = fields.text("name");
    const size_t direction = fields.word("direction", {"higher", "lower", "neither"});
    criterion.direction = direction == 0 ? Direction::higher : direction == 1 ? Direction::lower : Direction::neither;
    criteria.push_back(std::move(criterion));
  }
  return criteria;
}

EntrySummary entry_from(const JsonFields& fields, const std::vector<CriterionSummary>& criteria) {
  EntrySummary entry;
  entry.name = fields.text("name");
  entry.stem = fields.text("stem");
  if (!valid_stem(entry.stem)) fields.fail("letters, digits, _ and - as 'stem'", in_quotes(entry.stem));
  entry.kind = fields.word("kind", {"method", "aggregate"}) == 0 ? EntryKind::method : EntryKind::aggregate;
  const std::vector<JsonFields> scores = fields.objects("scores");
  if (scores.size() != criteria.size()) {
    fields.fail(fmt::format("{} 'scores', one for each criterion", criteria.size()), fmt::format("{}", scores.size()));
  }
  for (size_t c = 0; c < scores.size(); c++) {
    const JsonFields& own = scores[c];
    if (const std::string found = own.text("criterion"); found != criteria[c].spec) {
      own.fail(fmt::format("{} as 'criterion'", in_quotes(criteria[c].spec)), in_quotes(found));
    }
    entry.scores.push_back({own.number("mean"), own.error("stderr"), own.interval("interval"), own.share("coverage")});
  }
  return entry;
}

// What the advice recommends. A name that is no entry is an input error.
std::vector<std::pair<std::string, std::string>> recommended_from(const JsonFields& document,
                                                                  const std::set<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> found;
  const JsonFields recommended = document.object("advice").object("recommended");
  for (const std::string_view name : kAims) {
    const std::string aim(name);
    if (!recommended.has_value(aim.c_str())) continue;
    const JsonFields made = recommended.object(aim.c_str());
    found.emplace_back(aim, made.text("explanation"));
    if (!names.contains(found.back().second)) {
      made.fail("the name of an entry as 'explanation'", in_quotes(found.back().second));
    }
  }
  return found;
}

}  // namespace

std::string study_json(const Study& study, const Assessment& assessment) {
  Json entries = Json::array();
  for (size_t i = 0; i < study.entries.size(); i++) entries.push_back(entry_summary_json(study, assessment, i));
  Json left_out = Json::array();
  for (const LeftOut& each : study.left_out) {
    left_out.push_back({{"kind", each.kind}, {"name", each.name}, {"reason", each.reason}});
  }
  return dumped_lines({{"schema", kStudySchema},
                       {"facts", facts_json(study.facts)},
                       {"advice", advice_json(study, assessment.advice)},
                       {"verdict", assessment.verdict},
                       {"warnings", assessment.warnings},
                       {"notes", study.notes},
                       {"cohorts", cohorts_json(study)},
                       {"criteria", criteria_json(study, assessment)},
                       {"entries", entries},
                       {"left_out", left_out}});
}

StudySummary study_summary_from_json(std::string_view where, std::string_view text) {
  const JsonRead parsed = parsed_json(where, text, kStudyJsonDepth);
  const JsonFields document(std::string(where), parsed);
  document.require_schema(kStudySchema);
  const JsonFields facts = document.object("facts");
  StudySummary summary;
  summary.title = facts.text("title");
  summary.version = facts.text("version");
  summary.seed = facts.count("seed");
  summary.rows = facts.count("rows");
  summary.inputs = facts.inputs("inputs");
  summary.criteria = criteria_from(document);
  std::set<std::string> names;
  std::set<std::string> stems;
  for (const JsonFields& fields : document.objects("entries")) {
    summary.entries.push_back(entry_from(fields, summary.criteria));
    require_new(fields, names, summary.entries.back().name, "name");
    // Some file systems ignore case.
    require_new(fields, stems, lower_case(summary.entries.back().stem), "stem");
  }
  summary.recommended = recommended_from(document, names);
  return summary;
}

}  // namespace assay

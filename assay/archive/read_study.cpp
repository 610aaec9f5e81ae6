#include "assay/archive/read_study.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assay/archive/io/cohorts_json.h"
#include "assay/archive/io/json_parts.h"
#include "assay/archive/io/quality_json.h"
#include "assay/archive/io/reference_json.h"
#include "assay/archive/io/run_json.h"
#include "assay/archive/study_folder.h"
#include "assay/archive/study_names.h"
#include "assay/core/error.h"
#include "assay/core/table_text.h"

namespace assay {
namespace {

StudyFacts facts_from(const JsonFields& fields) {
  StudyFacts facts;
  facts.title = fields.text("title");
  facts.data = fields.text("data");
  facts.pool = fields.text("pool");
  facts.model = fields.text("model");
  facts.unit = fields.text("unit");
  facts.target = fields.text("target");
  facts.reference = fields.text("reference");
  facts.reference_facts = reference_facts_from(fields);
  facts.players = fields.text("players");
  facts.target_names = fields.texts("target_names");
  facts.features = fields.texts("features");
  facts.rows = fields.count("rows");
  if (fields.has("distinct_rows")) facts.distinct_rows = fields.count("distinct_rows");
  facts.rows_available = fields.count("rows_available");
  facts.pool_rows = fields.count("pool_rows");
  facts.pool_rows_available = fields.count("pool_rows_available");
  facts.seed = fields.count("seed");
  facts.accuracy = fields.number("accuracy");
  facts.quality = quality_from_json(fields);
  facts.settings = fields.pairs("settings");
  facts.inputs = fields.inputs("inputs");
  facts.version = fields.text("version");
  facts.vector_target = fields.text("vector_target");
  return facts;
}

Explanations read_entry_explanations(const StudyFolder& study, const EntrySummary& entry, const Context& context) {
  const std::string file = file_within(study.path, kExplanationsFolder.file(entry.stem));
  Explanations explanations = read_explanations(file, context);
  if (explanations.rows() != study.summary.rows) {
    fail_input(file, plural(study.summary.rows, "row"), fmt::format("{}", explanations.rows()));
  }
  return explanations;
}

Study read_whole_study(const std::string& folder, const Context& context) {
  const StudyFolder opened = open_study_folder(folder, context);
  const std::string file = path_within(folder, kStudyJson);
  const JsonRead parsed = parsed_json(file, text_within(folder, kStudyJson, context), kStudyJsonDepth);
  const JsonFields document(file, parsed);
  Study study;
  study.facts = facts_from(document.object("facts"));
  study.notes = document.texts("notes");
  study.cohorts = cohorts_from_json(document, study.facts.features);
  const JsonFields advice = document.object("advice");
  study.advice = {advice.share("margin"), advice.share("tie")};
  for (const CriterionSummary& criterion : opened.summary.criteria) {
    study.criteria.push_back(criterion.spec);
    study.criterion_names.push_back(criterion.name);
    study.directions.push_back(criterion.direction);
  }
  for (size_t e = 0; e < opened.summary.entries.size(); e++) {
    context.check_cancelled();
    StudyEntry entry = read_study_entry(opened, e, context);
    entry.explanations = read_entry_explanations(opened, opened.summary.entries[e], context);
    study.entries.push_back(std::move(entry));
  }
  for (const JsonFields& each : document.objects("left_out")) {
    study.left_out.push_back({each.text("kind"), each.text("name"), each.text("reason")});
  }
  return study;
}

}  // namespace

FinishedStudy read_study(const std::string& folder, const Context& context) {
  FinishedStudy read;
  read.study = read_whole_study(folder, context);
  read.assessment = assess(read.study, context);
  read.times = times_from_json(path_within(folder, kRunJson), text_within(folder, kRunJson, context));
  return read;
}

}  // namespace assay

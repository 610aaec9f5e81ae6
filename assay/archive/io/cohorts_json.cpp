#include "assay/archive/io/cohorts_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/archive/io/quality_json.h"
#include "assay/core/text.h"

namespace assay {
namespace {

Json cohort_score_json(const CohortScore& score) {
  return {{"rows", score.rows}, {"mean", number(score.mean)}, {"stderr", number(score.error)}};
}

CohortScore cohort_score_from(const JsonFields& fields) {
  return {fields.count("rows"), fields.number("mean"), fields.error("stderr")};
}

Json differences_json(const Study& study, const Cohort& cohort) {
  Json made = Json::array();
  for (const CohortDifference& each : cohort.differences) {
    made.push_back({{"measure", cohort_measure_name(each.measure)},
                    {"feature", each.player ? Json(study.facts.features[*each.player]) : Json()},
                    {"difference", number(each.difference)},
                    {"stderr", number(each.error)},
                    {"p", number(each.p_value)},
                    {"corrected_p", number(each.corrected)},
                    {"different", each.different}});
  }
  return made;
}

Json cohort_json(const Study& study, const Cohort& cohort) {
  Json drivers = Json::array();
  for (const CohortDriver& driver : cohort.drivers) {
    drivers.push_back({{"feature", study.facts.features[driver.player]}, {"share", number(driver.share)}});
  }
  return {{"name", cohort.name},
          {"rows", cohort.rows},
          {"quality", quality_json(cohort.quality)},
          {"mean_output", number(cohort.mean_output)},
          {"mean_probability", number(cohort.mean_probability)},
          {"drivers", drivers},
          {"faithfulness", cohort_score_json(cohort.faithfulness)},
          {"stability", cohort_score_json(cohort.stability)},
          {"not_tested", cohort.not_tested.empty() ? Json() : Json(cohort.not_tested)},
          {"different", cohort.different()},
          {"differences", differences_json(study, cohort)}};
}

constexpr CohortMeasure kMeasures[] = {CohortMeasure::faithfulness, CohortMeasure::stability, CohortMeasure::accuracy,
                                       CohortMeasure::squared_error, CohortMeasure::driver};
constexpr CohortCut kCuts[] = {CohortCut::prediction, CohortCut::levels, CohortCut::quantiles};

size_t player_from(const JsonFields& fields, const std::vector<std::string>& features) {
  const std::string name = fields.text("feature");
  const auto found = std::ranges::find(features, name);
  if (found == features.end()) fields.fail("the name of a feature as 'feature'", in_quotes(name));
  return static_cast<size_t>(found - features.begin());
}

CohortDifference difference_from(const JsonFields& fields, const std::vector<std::string>& features) {
  CohortDifference made;
  std::vector<std::string_view> words;
  for (const CohortMeasure each : kMeasures) words.push_back(cohort_measure_name(each));
  made.measure = kMeasures[fields.word("measure", words)];
  if (fields.has_value("feature")) made.player = player_from(fields, features);
  if (made.player.has_value() != (made.measure == CohortMeasure::driver)) {
    fields.fail("a 'feature' for a driver alone", made.player ? "one" : "none");
  }
  made.difference = fields.number("difference");
  made.error = fields.error("stderr");
  const auto chance = [&](const char* key) { return fields.has_value(key) ? fields.share(key) : NAN; };
  made.p_value = chance("p");
  made.corrected = chance("corrected_p");
  made.different = fields.flag("different");
  return made;
}

Cohort cohort_from(const JsonFields& fields, const std::vector<std::string>& features) {
  Cohort cohort;
  cohort.name = fields.text("name");
  cohort.rows = fields.count("rows");
  cohort.quality = quality_from_fields(fields.object("quality"));
  cohort.mean_output = fields.number("mean_output");
  cohort.mean_probability = fields.number("mean_probability");
  for (const JsonFields& driver : fields.objects("drivers")) {
    cohort.drivers.push_back({player_from(driver, features), driver.share("share")});
  }
  cohort.faithfulness = cohort_score_from(fields.object("faithfulness"));
  cohort.stability = cohort_score_from(fields.object("stability"));
  if (fields.has_value("not_tested")) cohort.not_tested = fields.text("not_tested");
  for (const JsonFields& each : fields.objects("differences")) {
    cohort.differences.push_back(difference_from(each, features));
  }
  return cohort;
}

}  // namespace

Json cohorts_json(const Study& study) {
  Json columns = Json::array();
  for (const CohortColumn& column : study.cohorts.columns) {
    Json cohorts = Json::array();
    for (const Cohort& cohort : column.cohorts) cohorts.push_back(cohort_json(study, cohort));
    columns.push_back({{"name", column.name}, {"cut", cohort_cut_name(column.cut)}, {"cohorts", cohorts}});
  }
  return {{"named", study.cohorts.named},
          {"tests", study.cohorts.tests},
          {"least_rows", kLeastCohortRows},
          {"columns", columns}};
}

StudyCohorts cohorts_from_json(const JsonFields& document, const std::vector<std::string>& features) {
  StudyCohorts made;
  if (!document.has("cohorts")) return made;
  const JsonFields fields = document.object("cohorts");
  made.named = fields.flag("named");
  made.tests = fields.count("tests");
  std::vector<std::string_view> cuts;
  for (const CohortCut each : kCuts) cuts.push_back(cohort_cut_name(each));
  for (const JsonFields& each : fields.objects("columns")) {
    CohortColumn column{.name = each.text("name"), .cut = kCuts[each.word("cut", cuts)]};
    for (const JsonFields& cohort : each.objects("cohorts")) column.cohorts.push_back(cohort_from(cohort, features));
    made.columns.push_back(std::move(column));
  }
  return made;
}

}  // namespace assay

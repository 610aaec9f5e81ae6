#include "assay/archive/io/advice_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "assay/archive/io/quality_json.h"
#include "assay/archive/io/reference_json.h"

namespace assay {
namespace {

Json names_json(const Study& study, const std::vector<size_t>& entries) {
  Json names = Json::array();
  for (const size_t e : entries) names.push_back(study.entries[e].name);
  return names;
}

Json recommendation_json(const Study& study, const Advice& advice, const std::optional<Recommendation>& made) {
  if (!made) return {};
  const EntryAdvice& entry = advice.entries[made->entry];
  Json scores = Json::array();
  for (size_t c = 0; c < study.criteria.size(); c++) {
    const Scores& own = study.entries[made->entry].scores[c];
    scores.push_back(
        {{"criterion", study.criteria[c]}, {"mean", number(own.mean)}, {"interval", interval_json(own.interval)}});
  }
  return {{"explanation", study.entries[made->entry].name},
          {"aliases", names_json(study, aliases_of(advice, made->entry))},
          {"criterion", study.criteria[made->criterion]},
          {"scores", scores},
          {"cost",
           {{"faithfulness", number(entry.behind)},
            {"faithfulness_interval", interval_json(entry.behind_interval)},
            {"evaluations", entry.evaluations}}},
          {"complete", entry.complete},
          {"exact", entry.exact},
          {"tied", names_json(study, made->tied)},
          {"over", names_json(study, made->better)},
          {"ahead", names_json(study, made->ahead)},
          {"over_unfaithful", names_json(study, made->unfaithful)}};
}

Json gains_json(const Study& study, const Advice& advice) {
  Json gains = Json::array();
  for (const Gain& gain : advice.gains) {
    gains.push_back({{"criterion", study.criteria[gain.criterion]},
                     {"aggregate", study.entries[gain.aggregate].name},
                     {"method", study.entries[gain.method].name},
                     {"difference", number(gain.difference)},
                     {"interval", interval_json(gain.interval)}});
  }
  return gains;
}

Json drivers_json(const Study& study, const Advice& advice) {
  Json drivers = Json::array();
  for (const Driver& driver : advice.drivers) {
    drivers.push_back({{"feature", study.facts.features[driver.player]},
                       {"size", number(driver.size)},
                       {"share", number(driver.share)},
                       {"mean", number(driver.mean)},
                       {"trend", number(driver.trend)}});
  }
  return drivers;
}

// What the attributions are against: in words, and what the model gives for it.
Json reference_json(const StudyFacts& facts) {
  Json made = {{"what", facts.reference}};
  made.update(reference_facts_json(facts.reference_facts));
  return made;
}

}  // namespace

Json advice_json(const Study& study, const Advice& advice) {
  std::vector<size_t> faithful;
  Json undecided = Json::array();
  for (size_t e = 0; e < advice.entries.size(); e++) {
    const EntryAdvice& entry = advice.entries[e];
    if (entry.faithful == Faithful::yes) faithful.push_back(e);
    if (entry.faithful == Faithful::undecided) {
      undecided.push_back({{"explanation", study.entries[e].name}, {"rows", number(entry.rows_to_decide)}});
    }
  }
  return {{"recommended",
           {{"overall", recommendation_json(study, advice, advice.overall)},
            {"faithfulness", recommendation_json(study, advice, advice.faithfulness)},
            {"stability", recommendation_json(study, advice, advice.stability)},
            {"simplicity", recommendation_json(study, advice, advice.simplicity)}}},
          {"faithful", names_json(study, faithful)},
          {"undecided", undecided},
          {"margin", number(advice.options.margin)},
          {"tie", number(advice.options.tie)},
          {"standard", advice.standard ? Json(study.entries[*advice.standard].name) : Json()},
          {"critical", number(advice.critical)},
          {"best_upper", number(advice.best_upper)},
          {"one_number_fails", advice.one_number_fails},
          {"none_describes", advice.none_describes},
          {"reference", reference_json(study.facts)},
          {"quality", quality_json(study.facts.quality)},
          {"gains", gains_json(study, advice)},
          {"drivers", drivers_json(study, advice)},
          {"next", advice.next}};
}

}  // namespace assay

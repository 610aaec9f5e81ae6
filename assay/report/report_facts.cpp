#include "assay/report/report_facts.h"

#include <fmt/format.h>

#include <cmath>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/report/json_text.h"
#include "assay/report/quality_text.h"

namespace assay {
namespace {

std::string count_of(size_t used, size_t available) {
  if (available <= used) return with_commas(used);
  return fmt::format("{} of {}", with_commas(used), with_commas(available));
}

std::string with_probability(double value, double probability) {
  if (!std::isfinite(probability)) return short_number(value);
  return fmt::format("{} (probability {})", short_number(value), short_number(probability));
}

}  // namespace

std::string model_at_reference(const ReferenceFacts& facts) {
  if (!std::isfinite(facts.value)) return {};
  const bool several = facts.background();
  std::string text = fmt::format("the model gives {} for {}", with_probability(facts.value, facts.probability),
                                 several ? "them on average" : "it");
  if (!std::isfinite(facts.pool_value)) return text;
  return fmt::format("{}, {} for the pool{}", text, with_probability(facts.pool_value, facts.pool_probability),
                     several ? "" : " on average");
}

FactPairs fact_pairs(const Study& study) {
  const StudyFacts& facts = study.facts;
  FactPairs pairs = {{"model", facts.model},
                     {"data", facts.data},
                     {"pool", facts.pool},
                     {"unit", facts.unit},
                     {"target", facts.target},
                     {"targets", joined(facts.target_names)},
                     {"reference", facts.reference},
                     {"the model at the reference", model_at_reference(facts.reference_facts)},
                     {"players", facts.players},
                     {"rows", count_of(facts.rows, facts.rows_available)},
                     {"rows of the pool", count_of(facts.pool_rows, facts.pool_rows_available)},
                     {"features", with_commas(facts.features.size())},
                     {"seed", std::to_string(facts.seed)}};
  pairs.emplace_back("quality of the model on these rows", quality_sentence(facts));
  pairs.emplace_back("version of Assay", facts.version);
  pairs.emplace_back("vector target", facts.vector_target);
  std::erase_if(pairs, [](const auto& pair) { return pair.second.empty(); });
  return pairs;
}

FactPairs run_pairs(const StudyTimes& times) {
  FactPairs pairs;
  if (std::isfinite(times.total)) pairs.emplace_back("time", fmt::format("{} s", short_number(times.total)));
  if (times.threads > 0) pairs.emplace_back("threads", std::to_string(times.threads));
  if (!times.machine.empty()) pairs.emplace_back("machine", times.machine);
  return pairs;
}

std::string json_pairs(const FactPairs& pairs) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : pairs) parts.push_back(json_texts({name, value}));
  return json_list(parts);
}

std::string json_of_inputs(const Study& study) {
  std::vector<std::string> parts;
  for (const StudyInput& input : study.facts.inputs) {
    parts.push_back(json_object(
        {{"role", json_text(input.role)}, {"name", json_text(input.name)}, {"sha256", json_text(input.sha256)}}));
  }
  return json_list(parts);
}

std::string json_of_left_out(const Study& study) {
  std::vector<std::string> parts;
  for (const LeftOut& each : study.left_out) {
    parts.push_back(json_object(
        {{"kind", json_text(each.kind)}, {"name", json_text(each.name)}, {"reason", json_text(each.reason)}}));
  }
  return json_list(parts);
}

}  // namespace assay

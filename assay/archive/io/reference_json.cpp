#include "assay/archive/io/reference_json.h"

#include <nlohmann/json.hpp>

namespace assay {

Json reference_facts_json(const ReferenceFacts& facts) {
  return {{"rows", facts.rows},
          {"background", facts.background()},
          {"value", number(facts.value)},
          {"pool_value", number(facts.pool_value)},
          {"probability", number(facts.probability)},
          {"pool_probability", number(facts.pool_probability)},
          {"common_share", number(facts.common_share)},
          {"drawn_rows", facts.drawn_rows.value_or("").empty() ? Json() : Json(*facts.drawn_rows)}};
}

ReferenceFacts reference_facts_from(const JsonFields& facts) {
  if (!facts.has("reference_facts")) return {};
  const JsonFields fields = facts.object("reference_facts");
  ReferenceFacts made{.rows = fields.count("rows"),
                      .value = fields.number("value"),
                      .pool_value = fields.number("pool_value"),
                      .probability = fields.number("probability"),
                      .pool_probability = fields.number("pool_probability")};
  if (fields.has("common_share")) made.common_share = fields.number("common_share");
  if (fields.has("drawn_rows")) made.drawn_rows = fields.has_value("drawn_rows") ? fields.sha256("drawn_rows") : "";
  return made;
}

}  // namespace assay

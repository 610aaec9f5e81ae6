// Any bytes as rules of a gate: rules that can be run on a study and printed, or an assay::Error, nothing else. No rule
// passes where every score is undefined.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "assay/archive/gate.h"
#include "assay/core/error.h"
#include "assay/report/gate_text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

assay::StudySummary study(const assay::ScoreSummary& score) {
  assay::StudySummary made;
  made.title = "fuzz";
  made.criteria = {{"a:x=1", "a", assay::Direction::higher}, {"b", "b", assay::Direction::neither}};
  made.entries = {{"m", "m", assay::EntryKind::method, {score, score}},
                  {"n", "n", assay::EntryKind::aggregate, {score, score}}};
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto rules = assay::gate_rules_from_json("fuzz.json", text);
    require(!rules.empty());
    for (const assay::GateRule& rule : rules) require(rule.least || rule.most || rule.least_coverage);
    for (const assay::StudySummary& each : {study({}), study({0.5, 0.1, {0.3, 0.7}, 0.9})}) {
      const auto outcomes = assay::run_gate("fuzz.json", rules, each);
      require(outcomes.size() == rules.size());
      require(each.entries[0].scores[0].coverage > 0 || !assay::all_passed(outcomes));
      assay::gate_text(outcomes, each);
      assay::gate_json(outcomes, each);
    }
  } catch (const assay::Error&) {
  }
  return 0;
}

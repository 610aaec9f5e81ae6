// A gate: rules that the scores of a study must meet, for continuous integration of models.
//
//   {"schema": "assay.rules/1",
//    "rules": [{"criterion": "faithfulness", "explanation": "kernel_shap", "least": 0.8, "least_coverage": 0.9},
//              {"criterion": "max_sensitivity", "explanation": "best", "most": 0.5, "by": "interval"}]}
//
// A rule bounds a criterion's mean over rows or, with "by": "interval", both ends of its 95 % interval. It is about one
// explanation, all of them, all of a kind, any of them, the best one, or the one that the study recommends:
// "recommended" overall, "recommended:stability" for an aim; it fails if nothing is recommended. An undefined score
// fails. A rule about something that the study does not have is an input error, not a failure: otherwise nobody would
// notice that nothing is checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/archive/io/study_json.h"

namespace assay {

struct GateRule {
  std::string criterion;            // as in the study ("faithfulness:subset=2"), or its name alone
  std::string explanation = "all";  // all, methods, aggregates, any, best, recommended, or one by name
  std::optional<double> least = {};
  std::optional<double> most = {};
  std::optional<double> least_coverage = {};  // share of rows with a score
  bool by_interval = false;
};

// The text is not trusted. Unknown or repeated fields, wrong types, no rules, and rules without a bound or with bounds
// that nothing can meet are input errors that start with `where`.
std::vector<GateRule> gate_rules_from_json(std::string_view where, std::string_view text);

// One explanation against a rule.
struct GateCheck {
  size_t entry = 0;  // index in the study
  ScoreSummary score = {};
  bool passed = false;
  std::string reason = {};  // why not: "undefined", "below 0.8"
};

struct GateOutcome {
  GateRule rule = {};
  size_t criterion = 0;                // index in the study
  std::vector<GateCheck> checks = {};  // one for each explanation that the rule is about
  bool passed = false;
  std::string reason = {};  // why it fails without any check: "no explanation is recommended"; else empty
};

// One outcome for each rule. Throws an input error that starts with `where` if a rule names a criterion or explanation
// that the study does not have, an ambiguous criterion, or "best" for a criterion without a direction.
std::vector<GateOutcome> run_gate(std::string_view where, const std::vector<GateRule>& rules,
                                  const StudySummary& study);

bool all_passed(const std::vector<GateOutcome>& outcomes);

}  // namespace assay

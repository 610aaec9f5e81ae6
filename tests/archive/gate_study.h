// A study small enough to see at once which rules of a gate it keeps.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "assay/archive/gate.h"

namespace assay::testing {

inline ScoreSummary score(double mean, double error, double coverage = 1) {
  return {mean, error, {mean - 2 * error, mean + 2 * error}, coverage};
}

// Two methods and an aggregate by three criteria. faithfulness: 0.9, 0.6, 0.7; the simplest is occlusion.
inline StudySummary small_study() {
  StudySummary study;
  study.title = "m.onnx on rows.csv";
  study.criteria = {{"faithfulness:subset=2", "faithfulness", Direction::higher},
                    {"complexity", "complexity", Direction::lower},
                    {"sparseness", "sparseness", Direction::neither}};
  study.entries = {
      {"lime", "lime", EntryKind::method, {score(0.9, 0.01), score(1.5, 0.1), score(0.2, 0.01)}},
      {"occlusion", "occlusion", EntryKind::method, {score(0.6, 0.02), score(0.5, 0.1), score(NAN, NAN, 0)}},
      {"mean", "mean", EntryKind::aggregate, {score(0.7, 0.05, 0.75), score(1.0, 0.1), score(0.3, 0.01)}}};
  return study;
}

inline std::string file_of(const std::string& rules) {
  return R"({"schema": "assay.rules/1", "rules": [)" + rules + "]}";
}

inline std::vector<GateOutcome> outcomes_of(const std::string& rules, const StudySummary& study = small_study()) {
  return run_gate("r.json", gate_rules_from_json("r.json", file_of(rules)), study);
}

}  // namespace assay::testing

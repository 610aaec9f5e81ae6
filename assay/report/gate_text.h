// The output of `assay gate`: the outcomes of rules, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "assay/archive/gate.h"

namespace assay {

// A line for each rule, and one for all of them.
std::string gate_text(const std::vector<GateOutcome>& outcomes, const StudySummary& study);
std::string gate_json(const std::vector<GateOutcome>& outcomes, const StudySummary& study);

}  // namespace assay

// What the two DeepLift methods share: attributions are multipliers times differences from the reference,
//   phi_j = m_j (x_j - r_j),  sum over j of phi_j = f(x) - f(r),
// summed over a player's columns, and averaged over the rows of a background. The multipliers are the model's
// (Rescalable): they pass through the graph operator by operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/core/refusal.h"
#include "assay/explain/explainer.h"
#include "assay/model/model.h"

namespace assay {

// Refuses the information form, and a model without multipliers for this rule.
std::optional<Refusal> refuses_multipliers(const ExplainTask& task, DeepLiftRule rule = DeepLiftRule::rescale);

// Fills values, evaluations and, with a background, background_error. Evaluations: one for each pair of row and
// reference row, plus one for each reference row.
void attribute_differences(const ExplainTask& task, DeepLiftRule rule, std::string_view name, Attributions& out,
                           const Context& context);

}  // namespace assay

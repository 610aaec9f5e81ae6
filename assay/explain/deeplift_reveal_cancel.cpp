// DeepLift with the RevealCancel rule (Shrikumar, Greenside, Kundaje 2017, section 3.5.3): phi_j = m_j (x_j - r_j),
// where every difference is kept as a positive and a negative part, d = d+ + d-, and an element-wise function gives
//   y+ = (f(r + d+) - f(r) + f(r + d+ + d-) - f(r + d-)) / 2 to d+, and the rest, y-, to d-:
// the mean over both orders of adding the parts. Where the parts cancel in front of a ReLU, as in min(x1, x2) = x1 -
// relu(x1 - x2), the Rescale rule gives all to one input; this rule sees both.
//
// The values sum to f(x) - f(r) up to rounding. Parts begin at the inputs of the model, by sign, and at every Gemm,
// MatMul and Conv, by the sign of each contribution; biases, sums, means, batch normalisation and operators that only
// move elements pass both parts on separately. With a background, the mean of the attributions is given.
// Cost: two forward and three backward passes, roughly, for each row and reference row.
// Deviations: operators for which the paper has no rule (maxima and products of two branches, softmax, ...) take the
// Rescale rule, with parts by the sign of the difference. So do functions that are not defined everywhere, such as log,
// and functions written with a condition: Where(x > 0, x, 0). assay/model/graph/reveal.cpp has the formulas.
#include <optional>
#include <string>

#include "assay/explain/deeplift_common.h"
#include "assay/explain/explainer.h"

namespace assay {
namespace {

std::optional<Refusal> refuses_parts(const ExplainTask& task) {
  return refuses_multipliers(task, DeepLiftRule::reveal_cancel);
}

void attribute_by_parts(const ExplainTask& task, const NoOptions& /*options*/, Attributions& out,
                        const Context& context) {
  attribute_differences(task, DeepLiftRule::reveal_cancel, "deeplift_reveal_cancel", out, context);
}

}  // namespace

MethodInfo deeplift_reveal_cancel_method() {
  return with_options<AttributedBy<attribute_by_parts, refuses_parts>>(
      {.name = "deeplift_reveal_cancel",
       .title = "Differences from the reference, positive and negative parts apart",
       .citation = "Shrikumar, Greenside, Kundaje (2017)",
       .cost = "about 3 gradients for each reference row",
       .complete = true,
       .uses_reference = true});
}

}  // namespace assay

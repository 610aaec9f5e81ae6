// DeepLift with the Rescale rule (Shrikumar, Greenside, Kundaje 2017): phi_j = m_j (x_j - r_j), where the multipliers m
// pass from the output to the inputs by the chain rule, and an element-wise function has the multiplier
// (f(x) - f(r)) / (x - r), or its slope where x and r are too near for a quotient.
//
// Multipliers belong to operators of the graph, not to modules of a framework. So activations that are used twice or
// called as functions, residual sums, products of two values that change ((x y - x' y') shared evenly), pooling,
// normalisation and softmax are all exact, and the values sum to f(x) - f(r) up to rounding. With a background, the
// mean of the attributions is given: that is DeepSHAP (Lundberg and Lee 2017).
// Cost: a forward and a backward pass for each row and reference row; the reference is run once.
// Deviations: the paper has no rules for products, maxima and normalisations; ours are in the operators' files.
#include <optional>
#include <string>

#include "assay/explain/deeplift_common.h"
#include "assay/explain/explainer.h"

namespace assay {
namespace {

std::optional<Refusal> refuses_rescale(const ExplainTask& task) { return refuses_multipliers(task); }

void attribute_by_rescale(const ExplainTask& task, const NoOptions& /*options*/, Attributions& out,
                          const Context& context) {
  attribute_differences(task, DeepLiftRule::rescale, "deeplift", out, context);
}

}  // namespace

MethodInfo deeplift_method() {
  return with_options<AttributedBy<attribute_by_rescale, refuses_rescale>>(
      {.name = "deeplift",
       .title = "Differences from the reference, passed back by the Rescale rule",
       .citation = "Shrikumar, Greenside, Kundaje (2017); Lundberg, Lee (2017) for backgrounds",
       .cost = "1 gradient for each reference row",
       .complete = true,
       .uses_reference = true,
       .of_paper = true});
}

}  // namespace assay

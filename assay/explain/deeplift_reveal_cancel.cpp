#include "assay/explain/deeplift_reveal_cancel.h"

#include "assay/explain/deeplift_common.h"

namespace assay {

std::optional<std::string> DeepLiftRevealCancel::refuses(const ExplainTask& task) const {
  return refuses_multipliers(task, DeepLiftRule::reveal_cancel);
}

void DeepLiftRevealCancel::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  attribute_differences(task, DeepLiftRule::reveal_cancel, "deeplift_reveal_cancel", out, context);
}

MethodInfo deeplift_reveal_cancel_method() {
  return with_options<DeepLiftRevealCancel>(
      {.name = "deeplift_reveal_cancel",
       .title = "Differences from the reference, positive and negative parts apart",
       .citation = "Shrikumar, Greenside, Kundaje (2017)",
       .cost = "about 3 gradients for each reference row",
       .complete = true,
       .uses_reference = true});
}

}  // namespace assay

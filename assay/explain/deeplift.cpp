#include "assay/explain/deeplift.h"

#include "assay/explain/deeplift_common.h"

namespace assay {

std::optional<std::string> DeepLift::refuses(const ExplainTask& task) const { return refuses_multipliers(task); }

void DeepLift::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  attribute_differences(task, DeepLiftRule::rescale, "deeplift", out, context);
}

MethodInfo deeplift_method() {
  return with_options<DeepLift>(
      {.name = "deeplift",
       .title = "Differences from the reference, passed back by the Rescale rule",
       .citation = "Shrikumar, Greenside, Kundaje (2017); Lundberg, Lee (2017) for backgrounds",
       .cost = "1 gradient for each reference row",
       .complete = true,
       .uses_reference = true});
}

}  // namespace assay

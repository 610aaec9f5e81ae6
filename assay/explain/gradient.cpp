#include "assay/explain/gradient.h"

#include <cmath>

#include "assay/explain/common.h"

namespace assay {

std::optional<std::string> Gradient::refuses(const ExplainTask& task) const { return refuses_gradient(task); }

void Gradient::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  gradients_by_player(task, out, context, "gradient", {});
  if (!options_.absolute) return;
  parallel_blocks(context, out.values.rows(), items_per_block(out.values.cols()), [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) {
      for (float& value : out.values.row(r)) value = std::abs(value);
    }
  });
}

MethodInfo gradient_method() {
  return with_options<Gradient>({.name = "gradient",
                                 .title = "Slope of the output at the row",
                                 .citation = "Simonyan, Vedaldi, Zisserman (2014)",
                                 .cost = "1 gradient"});
}

}  // namespace assay

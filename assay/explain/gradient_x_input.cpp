#include "assay/explain/gradient_x_input.h"

#include <vector>

#include "assay/explain/common.h"

namespace assay {

std::optional<std::string> GradientXInput::refuses(const ExplainTask& task) const { return refuses_gradient(task); }

void GradientXInput::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  const std::vector<float> zero(task.rows.cols());
  gradients_by_player(task, out, context, "gradient_x_input", [&](MatrixView<float> gradients, size_t begin) {
    multiply_rows_by_way(zero, task.rows.rows_between(begin, begin + gradients.rows()), gradients);
  });
}

MethodInfo gradient_x_input_method() {
  return with_options<GradientXInput>({.name = "gradient_x_input",
                                       .title = "Slope of the output times the feature's value",
                                       .citation = "Shrikumar, Greenside, Shcherbina, Kundaje (2016)",
                                       .cost = "1 gradient"});
}

}  // namespace assay

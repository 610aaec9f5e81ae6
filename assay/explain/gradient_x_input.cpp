// Gradient x input: phi_j = x_j * d value / d x_j (Shrikumar, Greenside, Shcherbina, Kundaje 2016; so named and
// compared by Ancona, Ceolini, Oztireli, Gross 2018).
//
// Products are formed by column, then summed over a group's columns. Zero is the implied reference; the reference of
// the task is not used. The values sum to the output for models without biases that are linear, or
// piecewise linear as networks of ReLU are.
// Cost: one forward and one backward pass for a row.
#include <optional>
#include <string>
#include <vector>

#include "assay/explain/common.h"
#include "assay/explain/explainer.h"

namespace assay {
namespace {

class GradientXInput final : public Explainer {
 public:
  using Options = NoOptions;

  explicit GradientXInput(const Options& /*options*/) {}
  std::optional<Refusal> refuses(const ExplainTask& task) const override { return refuses_gradient(task); }

  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override {
    const std::vector<float> zero(task.rows.cols());
    gradients_by_player(task, out, context, "gradient_x_input", [&](MatrixView<float> gradients, size_t begin) {
      multiply_rows_by_way(zero, task.rows.rows_between(begin, begin + gradients.rows()), gradients);
    });
  }

  bool gives_output() const override { return true; }
};

}  // namespace

MethodInfo gradient_x_input_method() {
  return with_options<GradientXInput>({.name = "gradient_x_input",
                                       .title = "Slope of the output times the feature's value",
                                       .citation = "Shrikumar, Greenside, Shcherbina, Kundaje (2016)",
                                       .cost = "1 gradient",
                                       .of_paper = true});
}

}  // namespace assay

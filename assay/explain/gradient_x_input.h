// Gradient x input: phi_j = x_j * d value / d x_j (Shrikumar, Greenside, Shcherbina, Kundaje 2016; so named and
// compared by Ancona, Ceolini, Oztireli, Gross 2018).
//
// Products are formed by column, then summed over a group's columns. Zero is the implied reference: for a model that is
// linear without bias the values sum to the output; in general they sum to nothing in particular, and the reference of
// the task is not used.
// Cost: one forward and one backward pass for a row.
#pragma once

#include <optional>
#include <string>

#include "assay/explain/explainer.h"

namespace assay {

class GradientXInput final : public Explainer {
 public:
  struct Options {
    void describe(OptionVisitor& /*visit*/) {}
  };

  explicit GradientXInput(const Options& /*options*/) {}
  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;
  bool gives_output() const override { return true; }
};

MethodInfo gradient_x_input_method();

}  // namespace assay

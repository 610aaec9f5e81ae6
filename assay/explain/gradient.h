// Gradient: the slope of the explained value at the row, d value / d x_j (Simonyan, Vedaldi, Zisserman 2014).
//
// A group of columns gets the sum of its columns' derivatives: the slope along moving all of them together. With
// absolute=true the size of each player's slope without its sign, as saliency maps show it. Slopes have the unit of the
// value over that of the feature, and do not sum to output - base; there is no reference. At a kink (ReLU at 0) the
// derivative is the model's own convention.
// Cost: one forward and one backward pass for a row.
#pragma once

#include <optional>
#include <string>

#include "assay/explain/explainer.h"

namespace assay {

class Gradient final : public Explainer {
 public:
  struct Options {
    bool absolute = false;
    void describe(OptionVisitor& visit) { visit.flag("absolute", absolute, "the size of each slope without its sign"); }
  };

  explicit Gradient(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;
  bool gives_output() const override { return true; }

 private:
  Options options_;
};

MethodInfo gradient_method();

}  // namespace assay

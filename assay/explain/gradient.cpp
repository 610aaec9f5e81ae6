// Gradient: the slope of the explained value at the row, d value / d x_j (Simonyan, Vedaldi, Zisserman 2014).
//
// A group of columns gets the sum of its columns' derivatives: the slope when all of them move together. With
// absolute=true slopes lose their sign, as in saliency maps. Slopes have the unit of the value over that of the
// feature, and do not sum to output - base; there is no reference. At a kink (ReLU at 0) the derivative is the model's
// own convention.
// Cost: one forward and one backward pass for a row.
#include <cmath>
#include <optional>
#include <string>

#include "assay/explain/common.h"
#include "assay/explain/explainer.h"

namespace assay {
namespace {

class Gradient final : public Explainer {
 public:
  struct Options {
    bool absolute = false;
    void describe(OptionVisitor& visit) { visit.flag("absolute", absolute, "the size of each slope without its sign"); }
  };

  explicit Gradient(const Options& options) : options_(options) {}
  std::optional<Refusal> refuses(const ExplainTask& task) const override { return refuses_gradient(task); }

  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override {
    gradients_by_player(task, out, context, "gradient", {});
    if (!options_.absolute) return;
    parallel_blocks(context, out.values.rows(), items_per_block(out.values.cols()), [&](const Block& block) {
      for (size_t r = block.begin; r < block.end; r++) {
        for (float& value : out.values.row(r)) value = std::abs(value);
      }
    });
  }

  bool gives_output() const override { return true; }

 private:
  Options options_;
};

}  // namespace

MethodInfo gradient_method() {
  return with_options<Gradient>({.name = "gradient",
                                 .title = "Slope of the output at the row",
                                 .citation = "Simonyan, Vedaldi, Zisserman (2014)",
                                 .cost = "1 gradient",
                                 .of_paper = true});
}

}  // namespace assay

// Relative output stability (Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju, "Rethinking Stability for
// Attribution-based Explanations", 2022),
//   max over x' of || (e_x - e_x') / e_x ||_2 / max(|| h(x) - h(x') ||_2, epsilon),
// with e the attributions by player, h all outputs of the model in the unit that is explained (margins unless asked
// otherwise), and x' = x + normal noise of those draws that keep the predicted class. The target is frozen at x; all
// rows share their draws.
//
// Players whose attribution is exactly 0 are left out of the norm (zeros=leave_out), or their change is relative to
// epsilon, as in Quantus. Where the outputs do not move at all the change is over epsilon: a large score, as it should
// be when the explanation moves, and 0 when it does not.
// Undefined: no x' keeps the class; all attributions are 0 (leave_out); explanation or outputs that are not all
// numbers. Deviation from the paper: noise is in units of each column's deviation over the pool, and categories stay.
// Cost: `samples` explanations and predictions of each row.
#include <optional>
#include <string>

#include "assay/evaluate/again/relative_stability.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

class RelativeOutputStability final : public Criterion {
 public:
  using Options = RelativeStabilityOptions;

  explicit RelativeOutputStability(const Options& options) : options_(options) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override { return refuses_relative(task, options_); }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_relative(task, options_, RelativeTo::output, "relative_output_stability", scores, context);
  }

 private:
  Options options_;
};

}  // namespace

CriterionInfo relative_output_stability_criterion() {
  return with_criterion_options<RelativeOutputStability>(
      {.name = "relative_output_stability",
       .title = "Relative change of the explanation over the change of the model's outputs",
       .family = "stability",
       .citation = "Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju (2022)",
       .cost = "`samples` explanations and predictions (default 20)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

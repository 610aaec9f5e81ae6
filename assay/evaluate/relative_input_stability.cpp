// Relative input stability (Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju, "Rethinking Stability for
// Attribution-based Explanations", 2022),
//   max over x' of || (e_x - e_x') / e_x ||_2 / max(|| (x - x') / x ||_2, epsilon),
// with e the attributions by player, x the columns, ratios element by element, and x' = x + normal noise of those draws
// that keep the predicted class. The target is frozen at x; all rows share their draws.
//
// A ratio to a value of exactly 0 does not exist. Such elements are left out of both norms (zeros=leave_out): dividing
// by a small epsilon instead, as zeros=epsilon and Quantus do, makes one zero in a row decide its score. Very small
// values still weigh heavily: that is the definition's own.
// Undefined: no x' keeps the class; all attributions are 0, or no column but zeros moves (leave_out); an explanation
// that is not all numbers.
// Deviation from the paper: noise is in units of each column's deviation over the pool, and categories stay.
// Cost: `samples` explanations and, for classes, predictions of each row.
#include <optional>
#include <string>

#include "assay/evaluate/again/relative_stability.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

class RelativeInputStability final : public Criterion {
 public:
  using Options = RelativeStabilityOptions;

  explicit RelativeInputStability(const Options& options) : options_(options) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override { return refuses_relative(task, options_); }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_relative(task, options_, RelativeTo::input, "relative_input_stability", scores, context);
  }

 private:
  Options options_;
};

}  // namespace

CriterionInfo relative_input_stability_criterion() {
  return with_criterion_options<RelativeInputStability>(
      {.name = "relative_input_stability",
       .title = "Relative change of the explanation over the relative change of the row",
       .family = "stability",
       .citation = "Agarwal, Johnson, Pawelczyk, Krishna, Saxena, Zitnik, Lakkaraju (2022)",
       .cost = "`samples` explanations and predictions (default 20)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .explainer = true}});
}

}  // namespace assay

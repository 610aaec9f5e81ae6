// Compatibility: how well the attributions add up to the model's value (Bhatt, Weller, Moura 2020, appendix).
//   form=printed:  |sum over i of phi_i - f(x)|                    as the paper prints it
//   form=gap:      |base + sum over i of phi_i - f(x)|             the completeness gap
// f(x) is the explained value of the row and base that of the reference, both as the explanations hold them. A complete
// method (Shapley values, DeepLift, integrated gradients) has a gap of 0 up to rounding or its tolerance, whatever the
// base; the printed form is then |base|, a number about the reference, not about the explanation.
//
// The mean of the other form comes as a table. The gap is undefined without a base value (methods that use no
// reference, attributions made elsewhere). Where the explanations hold no f(x), the model is asked once for each row;
// without a model the row is undefined.
// Cost: none, or 1 evaluation for each row of attributions made elsewhere. Sums in float64.
// Deviation from the paper: none for form=printed.
#pragma once

#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class Compatibility final : public Criterion {
 public:
  struct Options {
    std::string form = "printed";

    void describe(OptionVisitor& visit) {
      visit.choice("form", form, "attributions alone against the value, or with the base value", {"printed", "gap"});
    }
  };

  explicit Compatibility(const Options& options) : options_(options) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo compatibility_criterion();

}  // namespace assay

// Effective complexity: how few players are enough (Nguyen, Martinez 2020, "On quantitative aspects of model
// interpretability").
//   form=loss (the paper's): the least k >= 1 such that L(k) <= tolerance x L(0), with
//     L(k) = mean over reference rows b of (f(x) - f(x on the k strongest players, b elsewhere))^2.
//     Strength is |phi|, ties by index. L(d) = 0, so that k is never above d.
//   form=count: the number of players with |phi_i| > eps x max over j of |phi_j|; no model is run.
//
// Undefined when all attributions are 0 (nothing orders the players), and for form=loss when L(0) = 0 (there is no
// change to explain) or the model gives no number on the way. L need not fall with k: the least k counts, as in the
// paper, also where a later one is worse again.
// Cost: for form=loss at most d evaluations for each reference row, in waves that stop at the answer; count: none.
// Deviation from the paper: the expectation over what is not kept is the mean over the reference rows (one baseline
// row, or a background), the loss is squared, and the tolerance is a share of the loss of keeping nothing, so that it
// has no unit; the paper's is a number in the unit of the loss.
#pragma once

#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class EffectiveComplexity final : public Criterion {
 public:
  struct Options {
    std::string form = "loss";
    double tolerance = 0.1;
    double eps = 1e-5;

    void describe(OptionVisitor& visit) {
      visit.choice("form", form, "fewest players that keep the model's value, or players that are not near zero",
                   {"loss", "count"});
      visit.real("tolerance", tolerance, "squared change that may be left, as a share of that of keeping nothing", "",
                 0, 1);
      visit.real("eps", eps, "for form=count: sizes above this share of the largest count", "", 0, 1);
    }
  };

  explicit EffectiveComplexity(const Options& options) : options_(options) {}
  Needs needs(const Needs& by_default) const override { return options_.form == "count" ? Needs() : by_default; }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo effective_complexity_criterion();

}  // namespace assay

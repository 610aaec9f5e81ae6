// Monotonicity: whether the explained value never falls as players are added to the reference from the weakest to the
// strongest (Luss et al. 2019; Arya et al. 2019). With the players in that order and S_k its first k,
//   all:   1 when f(S_k) >= f(S_{k-1}) for all steps, else 0;
//   share: the share of the steps for which this holds.
//
// f(S) is the explained value with the players of S as in the row and all others as in the reference; with a background
// the mean over its rows. A step falls when it loses more than 2.5e-7 of the larger |f| of its two ends: less is the
// rounding of float32.
// Equal attributions are added by index. Undefined when all attributions are zero (there is no order), and when f does
// not change at all (every order would do).
// Deviation from the papers: they take the probability of the predicted class and skip the first step, from the
// reference to one player (first_step=false); both orders, by |phi| and by phi, are found in their implementations.
// Where negative attributions are strong the value should fall, and order=strength counts it as a fault: the criterion
// is for attributions of evidence in favour.
// Cost: d + 1 evaluations for each reference row.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class Monotonicity final : public Criterion {
 public:
  struct Options {
    std::string order = "strength";
    std::string form = "all";
    bool first_step = true;

    void describe(OptionVisitor& visit) {
      visit.choice("order", order,
                   "players are added by the size of their attributions or by the attributions, least first",
                   {"strength", "value"});
      visit.choice("form", form, "1 when no step falls, else 0; or the share of steps that do not fall",
                   {"all", "share"});
      visit.flag("first_step", first_step, "whether the step from the reference to the first player counts");
    }
  };

  explicit Monotonicity(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

// The share of steps values[k] -> values[k + 1] that do not fall, of at least two values; NaN when they are all the
// same up to rounding, or not all finite.
double share_not_falling(std::span<const double> values);

CriterionInfo monotonicity_criterion();

}  // namespace assay

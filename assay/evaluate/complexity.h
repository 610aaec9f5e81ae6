// Complexity: how spread out an explanation is (Bhatt, Weller, Moura 2020, Definition 3), the entropy
//   mu_C = - sum over i of p_i ln p_i,   p_i = |phi_i| / sum over j of |phi_j|,
// with the natural logarithm and 0 ln 0 = 0. 0 when one player has everything, ln d when all have the same.
//
// Undefined for an explanation that is all zero. Sums in float64, without cancellation (kernels/entropy.h).
// Cost: none; the explanations alone, some nanoseconds for each player.
// Deviation from the paper: none; it does not say what an all-zero explanation scores.
#pragma once

#include <span>

#include "assay/evaluate/criterion.h"

namespace assay {

class Complexity final : public Criterion {
 public:
  struct Options {
    void describe(OptionVisitor& /*visit*/) {}
  };

  explicit Complexity(const Options& /*options*/) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;
};

// Of one explanation; NaN when it is all zero or not all numbers.
double complexity(std::span<const float> values);

CriterionInfo complexity_criterion();

}  // namespace assay

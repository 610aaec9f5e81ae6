// Sparseness: how unequal the attributions are (Chalasani et al. 2020), the Gini index of |phi| (Hurley, Rickard 2009).
// With the sizes |phi| in ascending order a_1 <= ... <= a_d,
//   G = sum over i of (2 i - d - 1) a_i / (d sum over i of a_i).
// 0 when all players have the same, 1 - 1/d when one has everything.
//
// Undefined for an explanation that is all zero. Sums in float64. Cost: none; d ln d for sorting.
#pragma once

#include <span>

#include "assay/evaluate/criterion.h"

namespace assay {

class Sparseness final : public Criterion {
 public:
  struct Options {
    void describe(OptionVisitor& /*visit*/) {}
  };

  explicit Sparseness(const Options& /*options*/) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;
};

// Of one explanation; NaN when it is all zero or not all numbers.
double gini_index(std::span<const float> values);

CriterionInfo sparseness_criterion();

}  // namespace assay

// Descriptive sparsity: how much of an explanation lies around zero (Warnecke, Arp, Wressnegger, Rieck 2020).
// With r_i = phi_i / max over j of |phi_j|, in -1 .. 1, the mass around zero is MAZ(t) = share of players with
// |r_i| <= t, and the score is the area under it,
//   integral over t from 0 to 1 of MAZ(t) = 1 - mean over i of |r_i|,
// since player i is counted for the t from |r_i| to 1. 0 when all players have the same size, 1 - 1/d when one has
// everything.
//
// Undefined for an explanation that is all zero. Sums in float64. Cost: none.
// Deviation from the paper: the exact area, where the paper bins the attributions into a histogram first.
#pragma once

#include <span>

#include "assay/evaluate/criterion.h"

namespace assay {

class DescriptiveSparsity final : public Criterion {
 public:
  struct Options {
    void describe(OptionVisitor& /*visit*/) {}
  };

  explicit DescriptiveSparsity(const Options& /*options*/) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;
};

// Of one explanation; NaN when it is all zero or not all numbers.
double mass_around_zero(std::span<const float> values);

CriterionInfo descriptive_sparsity_criterion();

}  // namespace assay

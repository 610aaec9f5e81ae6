// Conviction: how typical an explanation is among those of the training rows (Bhatt, Weller, Moura 2020, appendix,
// after Hazard et al. 2019),
//   mu_CON(x) = E_z[I(g(z))] / I(g(x)),   I = -ln P.
// P(x) is the share of reference rows whose leave-one-out kernel density is at most that of x (density/surprise.h,
// density/kernel_density.h): near 0 for a surprising explanation, large for a typical one, about 1 for one of ordinary
// surprise. The reference rows are the pool's where there are explanations of a pool, else the rows' own. A row is not
// held against itself: reference rows of the same inputs are left out of its density and of its share.
//
// Undefined with fewer than 2 reference rows, when those do not vary, or when all of them have the same inputs.
// Cost: none beside explaining the reference rows; (rows + references) x references x players.
// Deviation from the paper: it takes P from a density that it does not name, which can exceed 1 and make I negative;
// here P is a rank. By default the share is smoothed by half a row, which keeps I positive and finite, so that means
// over rows exist: convictions then lie between about 1 / ln(2 n) and 2 n for n reference rows. share=plain has
// infinities.
#pragma once

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/density/surprise.h"

namespace assay {

class Conviction final : public Criterion {
 public:
  using Options = SurpriseOptions;

  explicit Conviction(const Options& options) : options_(options) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo conviction_criterion();

}  // namespace assay

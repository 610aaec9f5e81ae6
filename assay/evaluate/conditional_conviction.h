// Conditional conviction: how typical an explanation is among those of training rows of the same predicted class
// (Bhatt, Weller, Moura 2020, appendix),
//   mu(x) = E_z[I(g(z)) | class of x] / I(g(x) | class of x),   I = -ln P.
// All as for conviction (density/surprise.h), with the reference rows of x's predicted class alone: density, share and
// expectation. References are drawn from each class in proportion to its rows, at least 2 where there are 2.
//
// Undefined for rows of a class with fewer than 2 reference rows, or whose reference explanations or rows do not vary.
// Cost: explaining the reference rows, and 1 evaluation for each row and each pool row, for the predicted classes.
// Deviation from the paper: as for conviction, P is a smoothed rank of the density.
#pragma once

#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/density/surprise.h"

namespace assay {

class ConditionalConviction final : public Criterion {
 public:
  using Options = SurpriseOptions;

  explicit ConditionalConviction(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo conditional_conviction_criterion();

}  // namespace assay

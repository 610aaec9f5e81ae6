// Faithfulness estimate: whether players of higher attribution cost the model more when they alone are removed
// (Alvarez-Melis, Jaakkola 2018): Pearson's correlation, over players i, of
//   phi_i   with   f(x) - f(x with i at the reference).
//
// It is faithfulness at subsets of one player, without sampling. f is the explained value; with a background the mean
// over its rows. Undefined where either side does not vary (see subsets/subset_correlation.h).
// Deviation from the paper: it takes the drop of the class's probability, which is the explained value only where the
// model's output is a probability; margins do not flatten out where the model is sure.
// Cost: a game value for each player and reference row.
#pragma once

#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class FaithfulnessEstimate final : public Criterion {
 public:
  struct Options {
    void describe(OptionVisitor& /*visit*/) {}
  };

  explicit FaithfulnessEstimate(const Options& /*options*/) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;
};

CriterionInfo faithfulness_estimate_criterion();

}  // namespace assay

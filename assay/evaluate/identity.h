// Identity: whether the same row has the same explanation twice (Bhatt, Weller, Moura 2020, appendix),
//   D(g(x), g'(x)),   D = l0 by default: the number of players whose attribution differs at all,
// where g' is g called again with fresh random streams, and g(x) is the explanation as given.
//
// A deterministic g scores exactly 0; a g that samples coalitions, orders or noise does not, and a distance such as l2
// then says by how much. Explanations that were made by another build, or kept with fewer digits, differ in their last
// bits, and l0 counts that. The second seed is a function of the context's seed and the first one, and never the first.
// Undefined where an explanation is not all numbers.
// Cost: one more explanation of each row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {

class Identity final : public Criterion {
 public:
  struct Options {
    ComparisonOptions comparison = {.distance = "l0", .normalise = "raw"};
    void describe(OptionVisitor& visit) { comparison.describe(visit); }
  };

  explicit Identity(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo identity_criterion();

}  // namespace assay

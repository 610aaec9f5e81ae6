// Addition: what the log-odds of the predicted class gain when the k strongest players join the reference (Bhatt,
// Weller, Moura 2020, appendix),
//   s(y|reference with S from x) - s(y|reference),   s = ln p(y|.) - ln(1 - p(y|.)),
// with S the k players of largest |phi| and y the class predicted at x. Computed from margins; a regression: the value.
//
// Undefined where attributions are all 0, and where a model that gives probabilities gives exactly 0 or 1. Several
// reference rows: the mean over them. The class is the predicted one, as for deletion.
// Deviation from the paper: its text adds the subset to the baseline, as above; its printed formula keeps the
// complement instead, s(y|x with S at the reference) - s(y|reference), which is `form=printed`, and then lower is
// better.
// Cost: 1 evaluation for each row and reference row, and one for each row and each reference row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {

class Addition final : public Criterion {
 public:
  struct Options {
    std::optional<int64_t> k = {};
    std::string form = "text";

    void describe(OptionVisitor& visit) {
      describe_k(visit, k);
      visit.choice("form", form, "the strongest players added to the reference, or as printed: all others",
                   {"text", "printed"});
    }
  };

  explicit Addition(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo addition_criterion();

}  // namespace assay

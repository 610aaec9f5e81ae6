// Addition: what the log-odds of the predicted class gain when the k strongest players join the reference (Bhatt,
// Weller, Moura 2020, appendix),
//   s(y|reference with S from x) - s(y|reference),   s = ln p(y|.) - ln(1 - p(y|.)),
// with S the k players of largest |phi| and y the class predicted at x. Computed from margins. For a regression s is
// the value.
//
// Undefined where attributions are all 0, and where a model that gives probabilities gives exactly 0 or 1. Several
// reference rows: the mean over them. The class is the predicted one, as for deletion.
// Deviation from the paper: its text adds the subset to the baseline, as above. Its printed formula keeps the
// complement instead, s(y|x with S at the reference) - s(y|reference): that is `form=printed`, where lower is better.
// Cost: 1 evaluation for each pair of row and reference row, plus one for each row and for each reference row.
#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {
namespace {

struct AdditionOptions {
  std::optional<int64_t> k = {};
  std::string form = "text";

  void describe(OptionVisitor& visit) {
    describe_k(visit, k);
    visit.choice("form", form, "the strongest players added to the reference, or as printed: all others",
                 {"text", "printed"});
  }
};

void score_addition(const EvaluateTask& task, const AdditionOptions& options, Scores& scores, const Context& context) {
  // What is left without the strongest players should be little.
  if (options.form == "printed") scores.direction = Direction::lower;
  const TopKQuestion question{.name = "addition",
                              .kept = options.form == "text",
                              .value = [](const Removal& removal, size_t row, size_t reference, double made) {
                                return made - removal.at_reference(row, reference);
                              }};
  score_top_k(task, question, options.k, scores, context);
}

}  // namespace

CriterionInfo addition_criterion() {
  return with_criterion_options<ScoredBy<score_addition, refuses_options_k<AdditionOptions>>>(
      {.name = "addition",
       .title = "Log-odds of the predicted class that the strongest players add to the reference",
       .family = "importance",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "1 evaluation for each reference row, and 1",
       .direction = Direction::higher,
       .range = "any number",
       .needs = {.model = true, .reference = true},
       .of_paper = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay

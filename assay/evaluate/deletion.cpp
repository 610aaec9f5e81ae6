// Deletion: what the log-odds of the predicted class lose when the k strongest players are removed (Bhatt, Weller,
// Moura 2020, appendix),
//   s(y|x) - s(y|x with S at the reference),   s = ln p(y|.) - ln(1 - p(y|.)),
// with S the k players of largest |phi| and y the class predicted at x. Computed from margins, so that rows of which
// the model is sure are precise too. For a regression s is the value itself.
//
// Undefined where attributions are all 0 (there is no order), and where a model that gives probabilities gives exactly
// 0 or 1. Several reference rows: the mean over them. The class is the predicted one, as in the paper, even if another
// was explained. For one output, and for two classes in probabilities or log-odds, |phi| is the same for both;
// otherwise a note counts the rows explained for another class.
// Deviation from the paper: none. Its S is the k strongest players too (ties here by index); it leaves k open.
// Cost: 1 evaluation for each pair of row and reference row, plus one for each row and for each reference row.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {
namespace {

void score_deletion(const EvaluateTask& task, const TopKOptions& options, Scores& scores, const Context& context) {
  const TopKQuestion question{.name = "deletion",
                              .value = [](const Removal& removal, size_t row, size_t /*reference*/, double made) {
                                return removal.at_row(row) - made;
                              }};
  score_top_k(task, question, options.k, scores, context);
}

}  // namespace

CriterionInfo deletion_criterion() {
  return with_criterion_options<ScoredBy<score_deletion, refuses_options_k<TopKOptions>>>(
      {.name = "deletion",
       .title = "Log-odds of the predicted class that are lost without the strongest players",
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

#include "assay/evaluate/deletion.h"

namespace assay {

std::optional<std::string> Deletion::refuses(const EvaluateTask& task) const {
  return refuses_k(options_.k, task.explanations.players());
}

void Deletion::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const TopKQuestion question{.name = "deletion",
                              .value = [](const Removal& removal, size_t row, size_t /*reference*/, double made) {
                                return removal.at_row(row) - made;
                              }};
  score_top_k(task, question, options_.k, scores, context);
}

CriterionInfo deletion_criterion() {
  return with_criterion_options<Deletion>(
      {.name = "deletion",
       .title = "Log-odds of the predicted class that are lost without the strongest players",
       .family = "importance",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "1 evaluation for each reference row, and 1",
       .direction = Direction::higher,
       .range = "any number",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

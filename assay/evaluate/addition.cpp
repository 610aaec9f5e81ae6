#include "assay/evaluate/addition.h"

namespace assay {

std::optional<std::string> Addition::refuses(const EvaluateTask& task) const {
  return refuses_k(options_.k, task.explanations.players());
}

void Addition::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  // What is left without the strongest players should be little.
  if (options_.form == "printed") scores.direction = Direction::lower;
  const TopKQuestion question{.name = "addition",
                              .kept = options_.form == "text",
                              .value = [](const Removal& removal, size_t row, size_t reference, double made) {
                                return made - removal.at_reference(row, reference);
                              }};
  score_top_k(task, question, options_.k, scores, context);
}

CriterionInfo addition_criterion() {
  return with_criterion_options<Addition>(
      {.name = "addition",
       .title = "Log-odds of the predicted class that the strongest players add to the reference",
       .family = "importance",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "1 evaluation for each reference row, and 1",
       .direction = Direction::higher,
       .range = "any number",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay

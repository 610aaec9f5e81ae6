#include "assay/evaluate/top_k_agreement.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/evaluate/agreement/by_other.h"
#include "assay/evaluate/agreement/top_players.h"

namespace assay {

std::optional<std::string> TopKAgreement::refuses(const EvaluateTask& task) const {
  return refuses_top(options_.k, task.explanations.players());
}

void TopKAgreement::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const size_t players = task.explanations.players();
  const size_t k = options_.k ? static_cast<size_t>(*options_.k) : std::max<size_t>(players / 4, 1);
  if (!options_.k) scores.notes.push_back(fmt::format("k = {} of {} players", k, players));
  score_agreement(
      task,
      [=](std::span<const float> mine, std::span<const float> other) {
        return static_cast<double>(common_top_players(mine, other, k).size()) / static_cast<double>(k);
      },
      kAllZero, scores, context);
}

CriterionInfo top_k_agreement_criterion() {
  return with_criterion_options<TopKAgreement>(
      {.name = "top_k_agreement",
       .title = "Share of the strongest players that explanations have in common",
       .family = "agreement",
       .citation = "Krishna et al. (2022)",
       .cost = "none",
       .direction = Direction::higher,
       .range = "0 to 1",
       .needs = {.others = true}});
}

}  // namespace assay

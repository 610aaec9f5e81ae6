#include "assay/evaluate/sign_agreement.h"

#include <algorithm>

#include "assay/evaluate/agreement/by_other.h"
#include "assay/evaluate/agreement/top_players.h"

namespace assay {
namespace {

int sign_of(float value) { return (value > 0) - (value < 0); }

}  // namespace

std::optional<std::string> SignAgreement::refuses(const EvaluateTask& task) const {
  return refuses_top(options_.k, task.explanations.players());
}

void SignAgreement::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const size_t players = task.explanations.players();
  const size_t k = options_.k ? static_cast<size_t>(*options_.k) : players;
  score_agreement(
      task,
      [=](std::span<const float> mine, std::span<const float> other) {
        const std::vector<uint32_t> both = common_top_players(mine, other, k);
        const auto same =
            std::ranges::count_if(both, [&](uint32_t p) { return sign_of(mine[p]) == sign_of(other[p]); });
        return static_cast<double>(same) / static_cast<double>(k);
      },
      kAllZero, scores, context);
}

CriterionInfo sign_agreement_criterion() {
  return with_criterion_options<SignAgreement>(
      {.name = "sign_agreement",
       .title = "Share of the strongest players that explanations have in common with one sign",
       .family = "agreement",
       .citation = "Krishna et al. (2022)",
       .cost = "none",
       .direction = Direction::higher,
       .range = "0 to 1",
       .needs = {.others = true}});
}

}  // namespace assay

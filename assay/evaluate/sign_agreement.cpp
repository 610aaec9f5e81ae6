// Sign agreement: how many of the strongest players two explanations of a row have in common and with the same sign
// (Krishna et al. 2022),
//   |players in the top k of both whose values have the same sign| / k,
// by |phi|, ties by index. With k = all, the default, it is the share of all players with the same sign; 0 only agrees
// with 0. A k above d is refused. A row's score is the mean over the other explanations (agreement/by_other.h); a table
// has a row for each of them.
//
// Undefined when one of the two is all zero. Cost: none; d ln d for each pair of explanations.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "assay/evaluate/agreement/by_other.h"
#include "assay/evaluate/agreement/top_players.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {
namespace {

int sign_of(float value) { return (value > 0) - (value < 0); }

struct SignAgreementOptions {
  std::optional<int64_t> k = {};

  void describe(OptionVisitor& visit) {
    visit.integer_or("k", k, "all", "strongest players that are compared", "players", 1, 1'000'000);
  }
};

void score_sign_agreement(const EvaluateTask& task, const SignAgreementOptions& options, Scores& scores,
                          const Context& context) {
  const size_t players = task.explanations.players();
  const size_t k = options.k ? static_cast<size_t>(*options.k) : players;
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

}  // namespace

CriterionInfo sign_agreement_criterion() {
  return with_criterion_options<ScoredBy<score_sign_agreement, refuses_options_k<SignAgreementOptions>>>(
      {.name = "sign_agreement",
       .title = "Share of the strongest players that explanations have in common with one sign",
       .family = "agreement",
       .citation = "Krishna et al. (2022)",
       .cost = "none",
       .direction = Direction::higher,
       .range = "0 to 1",
       .needs = {.others = true},
       .reads_signs = true});
}

}  // namespace assay

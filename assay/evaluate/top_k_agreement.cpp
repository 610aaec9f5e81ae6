// Top-k agreement: how many of the strongest players two explanations of a row have in common ("feature agreement" of
// Krishna et al. 2022),
//   |top k of one and top k of the other| / k,
// by |phi|, ties by index. k = auto is max(1, d / 4); a k above d is refused. A row's score is the mean over the other
// explanations (agreement/by_other.h); a table has a row for each of them. Two random orders share k / d on average.
//
// Undefined when one of the two is all zero: nothing is on top.
// Cost: none; d ln d for each pair of explanations.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "assay/evaluate/agreement/by_other.h"
#include "assay/evaluate/agreement/top_players.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {
namespace {

struct TopKAgreementOptions {
  std::optional<int64_t> k = {};

  void describe(OptionVisitor& visit) {
    visit.integer_or("k", k, "auto", "strongest players that are compared; auto: a quarter of them", "players", 1,
                     1'000'000);
  }
};

void score_top_k_agreement(const EvaluateTask& task, const TopKAgreementOptions& options, Scores& scores,
                           const Context& context) {
  const size_t players = task.explanations.players();
  const size_t k = options.k ? static_cast<size_t>(*options.k) : std::max<size_t>(players / 4, 1);
  if (!options.k) scores.notes.push_back(fmt::format("k = {} of {} players", k, players));
  score_agreement(
      task,
      [=](std::span<const float> mine, std::span<const float> other) {
        return static_cast<double>(common_top_players(mine, other, k).size()) / static_cast<double>(k);
      },
      kAllZero, scores, context);
}

}  // namespace

CriterionInfo top_k_agreement_criterion() {
  return with_criterion_options<ScoredBy<score_top_k_agreement, refuses_options_k<TopKAgreementOptions>>>(
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

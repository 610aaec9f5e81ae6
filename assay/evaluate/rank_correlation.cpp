// Rank correlation: whether two explanations of a row order its players alike (Krishna et al. 2022, and others).
//   coefficient=spearman: Pearson correlation of the ranks; ties share their mean rank
//   coefficient=kendall:  tau-b, (agreeing - disagreeing pairs) / sqrt(pairs untied in one x pairs untied in the other)
// of |phi| (order=absolute) or of phi (order=signed). A row's score is the mean over the other explanations
// (agreement/by_other.h); a table has a row for each of them.
//
// Undefined when one of the two gives all players the same rank: all zero, equal sizes, or only one player.
// Cost: none; d ln d for each pair of explanations.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "assay/evaluate/agreement/by_other.h"
#include "assay/evaluate/agreement/rank_statistics.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

constexpr std::string_view kNoOrder = "an explanation ranks all players the same";

std::vector<double> ranked_by(std::span<const float> values, bool absolute) {
  std::vector<double> keys(values.begin(), values.end());
  if (absolute) std::ranges::transform(keys, keys.begin(), [](double v) { return std::abs(v); });
  return keys;
}

struct RankCorrelationOptions {
  std::string coefficient = "spearman";
  std::string order = "absolute";

  void describe(OptionVisitor& visit) {
    visit.choice("coefficient", coefficient, "Spearman's rho or Kendall's tau-b", {"spearman", "kendall"});
    visit.choice("order", order, "players ranked by size, or by value with its sign", {"absolute", "signed"});
  }
};

void score_rank_correlation(const EvaluateTask& task, const RankCorrelationOptions& options, Scores& scores,
                            const Context& context) {
  const bool absolute = options.order == "absolute";
  const bool kendall = options.coefficient == "kendall";
  score_agreement(
      task,
      [=](std::span<const float> mine, std::span<const float> other) {
        const std::vector<double> a = ranked_by(mine, absolute);
        const std::vector<double> b = ranked_by(other, absolute);
        return kendall ? kendall_tau_b(a, b) : spearman(a, b);
      },
      kNoOrder, scores, context);
}

}  // namespace

CriterionInfo rank_correlation_criterion() {
  return with_criterion_options<ScoredBy<score_rank_correlation>>(
      {.name = "rank_correlation",
       .title = "Whether explanations order the players alike",
       .family = "agreement",
       .citation = "Krishna et al. (2022)",
       .cost = "none",
       .direction = Direction::higher,
       .range = "-1 to 1",
       .needs = {.others = true}});
}

}  // namespace assay

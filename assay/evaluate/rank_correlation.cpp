#include "assay/evaluate/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/evaluate/agreement/by_other.h"
#include "assay/evaluate/agreement/rank_statistics.h"

namespace assay {
namespace {

constexpr std::string_view kNoOrder = "an explanation ranks all players the same";

std::vector<double> ranked_by(std::span<const float> values, bool absolute) {
  std::vector<double> keys(values.begin(), values.end());
  if (absolute) std::ranges::transform(keys, keys.begin(), [](double v) { return std::abs(v); });
  return keys;
}

}  // namespace

void RankCorrelation::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const bool absolute = options_.order == "absolute";
  const bool kendall = options_.coefficient == "kendall";
  score_agreement(
      task,
      [=](std::span<const float> mine, std::span<const float> other) {
        const std::vector<double> a = ranked_by(mine, absolute);
        const std::vector<double> b = ranked_by(other, absolute);
        return kendall ? kendall_tau_b(a, b) : spearman(a, b);
      },
      kNoOrder, scores, context);
}

CriterionInfo rank_correlation_criterion() {
  return with_criterion_options<RankCorrelation>({.name = "rank_correlation",
                                                  .title = "Whether explanations order the players alike",
                                                  .family = "agreement",
                                                  .citation = "Krishna et al. (2022)",
                                                  .cost = "none",
                                                  .direction = Direction::higher,
                                                  .range = "-1 to 1",
                                                  .needs = {.others = true}});
}

}  // namespace assay

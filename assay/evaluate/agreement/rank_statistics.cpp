#include "assay/evaluate/agreement/rank_statistics.h"

#include <algorithm>
#include <cmath>

#include "assay/core/rank_pairs.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"

namespace assay {
double spearman(std::span<const double> a, std::span<const double> b) { return pearson(ranks_of(a), ranks_of(b)); }

double kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  const RankPairs found = count_rank_pairs(a, b);
  if (found.tied_a == found.pairs || found.tied_b == found.pairs) return NAN;
  const auto untied_a = static_cast<double>(found.pairs - found.tied_a);
  const auto untied_b = static_cast<double>(found.pairs - found.tied_b);
  // Pairs tied in neither agree or not.
  const auto untied = static_cast<double>(found.pairs - found.tied_a - found.tied_b + found.tied_both);
  return std::clamp((untied - 2 * static_cast<double>(found.apart)) / (std::sqrt(untied_a) * std::sqrt(untied_b)), -1.0,
                    1.0);
}

}  // namespace assay

// Descriptive sparsity: how much of an explanation lies around zero (Warnecke, Arp, Wressnegger, Rieck 2020).
// With r_i = phi_i / max over j of |phi_j|, in -1 .. 1, the mass around zero is MAZ(t) = share of players with
// |r_i| <= t, and the score is the area under it,
//   integral over t from 0 to 1 of MAZ(t) = 1 - mean over i of |r_i|,
// since player i counts for t from |r_i| to 1. It is 0 if all players have the same size, 1 - 1/d if one has
// everything.
//
// Undefined for an explanation that is all zero. Sums in float64. Cost: none.
// Deviation from the paper: the exact area, where the paper bins the attributions into a histogram first.
#include <algorithm>
#include <cmath>
#include <span>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

constexpr size_t kCountedRowsAtATime = 1024;

// Of one explanation; NaN when it is all zero or not all numbers.
double mass_around_zero(std::span<const float> values) {
  if (!all_finite(values)) return NAN;
  double total = 0;
  double most = 0;
  for (const float v : values) {
    const double size = std::abs(static_cast<double>(v));
    total += size;
    most = std::max(most, size);
  }
  if (most == 0) return NAN;
  return std::max(0.0, 1 - total / (most * static_cast<double>(values.size())));
}

void score_sparsity(const EvaluateTask& task, const NoOptions& /*options*/, Scores& scores, const Context& context) {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), kCountedRowsAtATime, [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) scores.values[r] = mass_around_zero(values.row(r));
  });
  count_undefined(values, scores);
}

}  // namespace

CriterionInfo descriptive_sparsity_criterion() {
  return with_criterion_options<ScoredBy<score_sparsity>>({.name = "descriptive_sparsity",
                                                           .title = "Mass around zero: how many attributions are small",
                                                           .family = "complexity",
                                                           .citation = "Warnecke et al. (2020)",
                                                           .cost = "none",
                                                           .direction = Direction::higher,
                                                           .range = "0 to 1 - 1/d"});
}

}  // namespace assay

// Sparseness: how unequal the attributions are (Chalasani et al. 2020), the Gini index of |phi| (Hurley, Rickard 2009).
// With the sizes |phi| in ascending order a_1 <= ... <= a_d,
//   G = sum over i of (2 i - d - 1) a_i / (d sum over i of a_i).
// It is 0 if all players have the same size, 1 - 1/d if one has everything.
//
// Undefined for an explanation that is all zero. Sums in float64. Cost: none; d ln d for sorting.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {
namespace {

constexpr size_t kSortedRowsAtATime = 256;

// Of one explanation; NaN when it is all zero or not all numbers.
double gini_index(std::span<const float> values) {
  if (!all_finite(values)) return NAN;
  std::vector<float> sizes(values.size());
  std::ranges::transform(values, sizes.begin(), [](float v) { return std::abs(v); });
  std::ranges::sort(sizes);
  const auto count = static_cast<double>(sizes.size());
  double total = 0;
  double weighted = 0;
  double weight = 1 - count;  // 2 i - d - 1
  for (const float size : sizes) {
    total += size;
    weighted += weight * size;
    weight += 2;
  }
  // Equal sizes must not leave a hair under 0.
  return total > 0 ? std::max(0.0, weighted / (count * total)) : NAN;
}

void score_sparseness(const EvaluateTask& task, const NoOptions& /*options*/, Scores& scores, const Context& context) {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), kSortedRowsAtATime, [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) scores.values[r] = gini_index(values.row(r));
  });
  count_undefined(values, scores);
}

}  // namespace

CriterionInfo sparseness_criterion() {
  return with_criterion_options<ScoredBy<score_sparseness>>(
      {.name = "sparseness",
       .title = "Gini index of the attributions: how unequal they are",
       .family = "complexity",
       .citation = "Chalasani et al. (2020)",
       .cost = "none",
       .direction = Direction::higher,
       .range = "0 to 1 - 1/d"});
}

}  // namespace assay

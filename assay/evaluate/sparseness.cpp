#include "assay/evaluate/sparseness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

constexpr size_t kSortedRowsAtATime = 256;

}  // namespace

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

void Sparseness::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), kSortedRowsAtATime, [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) scores.values[r] = gini_index(values.row(r));
  });
  UndefinedCounts undefined;
  for (size_t r = 0; r < values.rows(); r++) {
    if (std::isnan(scores.values[r])) undefined.add(all_finite(values.row(r)) ? kAllZero : kNotFinite);
  }
  scores.undefined = undefined.take();
}

CriterionInfo sparseness_criterion() {
  return with_criterion_options<Sparseness>({.name = "sparseness",
                                             .title = "Gini index of the attributions: how unequal they are",
                                             .family = "complexity",
                                             .citation = "Chalasani et al. (2020)",
                                             .cost = "none",
                                             .direction = Direction::higher,
                                             .range = "0 to 1 - 1/d"});
}

}  // namespace assay

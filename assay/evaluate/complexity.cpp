#include "assay/evaluate/complexity.h"

#include <cmath>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {

double complexity(std::span<const float> values) {
  double total = 0;
  double logs = 0;
  for (const float v : values) {
    const double size = std::abs(static_cast<double>(v));
    total += size;
    if (size > 0) logs += size * std::log(size);
  }
  if (!(total > 0) || std::isinf(total)) return NAN;
  // -sum p ln p with p = size / total. Rounding may leave the least possible entropy a hair under 0.
  return std::max(0.0, std::log(total) - logs / total);
}

void Complexity::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), 1024, [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) scores.values[r] = complexity(values.row(r));
  });
  UndefinedCounts undefined;
  for (size_t r = 0; r < values.rows(); r++) {
    if (std::isnan(scores.values[r])) undefined.add(all_finite(values.row(r)) ? kAllZero : kNotFinite);
  }
  scores.undefined = undefined.take();
}

CriterionInfo complexity_criterion() {
  return with_criterion_options<Complexity>({.name = "complexity",
                                             .title = "Entropy of the attributions: how many players matter",
                                             .family = "complexity",
                                             .citation = "Bhatt, Weller, Moura (2020)",
                                             .cost = "none",
                                             .direction = Direction::lower,
                                             .range = "0 to ln d"});
}

}  // namespace assay

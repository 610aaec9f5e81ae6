#include "assay/evaluate/descriptive_sparsity.h"

#include <algorithm>
#include <cmath>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

constexpr size_t kCountedRowsAtATime = 1024;

}  // namespace

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

void DescriptiveSparsity::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), kCountedRowsAtATime, [&](const Block& block) {
    for (size_t r = block.begin; r < block.end; r++) scores.values[r] = mass_around_zero(values.row(r));
  });
  UndefinedCounts undefined;
  for (size_t r = 0; r < values.rows(); r++) {
    if (std::isnan(scores.values[r])) undefined.add(all_finite(values.row(r)) ? kAllZero : kNotFinite);
  }
  scores.undefined = undefined.take();
}

CriterionInfo descriptive_sparsity_criterion() {
  return with_criterion_options<DescriptiveSparsity>({.name = "descriptive_sparsity",
                                                      .title = "Mass around zero: how many attributions are small",
                                                      .family = "complexity",
                                                      .citation = "Warnecke et al. (2020)",
                                                      .cost = "none",
                                                      .direction = Direction::higher,
                                                      .range = "0 to 1 - 1/d"});
}

}  // namespace assay

#include "assay/evaluate/complexity.h"

#include <cmath>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/kernels/entropy.h"

namespace assay {
namespace {

constexpr size_t kEntropiesAtATime = 1024;

}  // namespace

double complexity(std::span<const float> values) {
  double found = NAN;
  row_entropies(values.data(), 1, values.size(), &found);
  return found;
}

void Complexity::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), kEntropiesAtATime, [&](const Block& block) {
    const size_t columns = values.cols();
    row_entropies(values.data() + block.begin * columns, block.end - block.begin, columns, &scores.values[block.begin]);
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

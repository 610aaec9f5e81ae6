// Complexity: how spread out an explanation is (Bhatt, Weller, Moura 2020, Definition 3), the entropy
//   mu_C = - sum over i of p_i ln p_i,   p_i = |phi_i| / sum over j of |phi_j|,
// with the natural logarithm and 0 ln 0 = 0. It is 0 if one player has everything, and ln d if all have the same size.
//
// Undefined for an explanation that is all zero. Sums in float64, without cancellation (kernels/entropy.h).
// Cost: none; the explanations alone, some nanoseconds for each player.
// Deviation from the paper: none; it does not say what an all-zero explanation scores.
#include "assay/evaluate/complexity.h"

#include <cmath>
#include <span>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/kernels/entropy.h"

namespace assay {
namespace {

constexpr size_t kEntropiesAtATime = 1024;

void score_complexity(const EvaluateTask& task, const NoOptions& /*options*/, Scores& scores, const Context& context) {
  const Matrix& values = task.explanations.values;
  parallel_blocks(context, values.rows(), kEntropiesAtATime, [&](const Block& block) {
    const size_t columns = values.cols();
    row_entropies(values.data() + block.begin * columns, block.end - block.begin, columns, &scores.values[block.begin]);
  });
  count_undefined(values, scores);
}

}  // namespace

double complexity(std::span<const float> values) {
  double found = NAN;
  row_entropies(values.data(), 1, values.size(), &found);
  return found;
}

CriterionInfo complexity_criterion() {
  return with_criterion_options<ScoredBy<score_complexity>>(
      {.name = "complexity",
       .title = "Entropy of the attributions: how many players matter",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "none",
       .direction = Direction::lower,
       .range = "0 to ln d",
       .role = CriterionRole::simplicity,
       .of_paper = true});
}

}  // namespace assay

// Complexity: how spread out an explanation is (Bhatt, Weller, Moura 2020, Definition 4), the entropy
//   mu_C = - sum over i of p_i ln p_i,   p_i = |phi_i| / sum over j of |phi_j|,
// with the natural logarithm and 0 ln 0 = 0. It is 0 if one player has everything, and ln d if all have the same size.
//
// part=positive takes max(phi_i, 0) instead of |phi_i|, one reading of the paper's "we take the positive l1 norm".
//
// Undefined for an explanation that is all zero, or without a positive value where only these count. Sums in float64,
// without cancellation (kernels/entropy.h). Cost: none; the explanations alone, some nanoseconds for each player.
// Deviation from the paper: none; it does not say what an all-zero explanation scores.
#include "assay/evaluate/complexity.h"

#include <cmath>
#include <span>
#include <string>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/kernels/entropy.h"

namespace assay {
namespace {

constexpr size_t kEntropiesAtATime = 1024;

struct ComplexityOptions {
  std::string part = "absolute";
  void describe(OptionVisitor& visit) {
    visit.choice("part", part, "the size of every attribution, or positive attributions alone",
                 {"absolute", "positive"});
  }
};

// NaN stays NaN.
Matrix positive_part(const Matrix& values) {
  Matrix out = values;
  for (float& value : out.values()) value = value < 0 ? 0 : value;
  return out;
}

void score_complexity(const EvaluateTask& task, const ComplexityOptions& options, Scores& scores,
                      const Context& context) {
  const bool positive = options.part == "positive";
  const Matrix kept = positive ? positive_part(task.explanations.values) : Matrix();
  const Matrix& values = positive ? kept : task.explanations.values;
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

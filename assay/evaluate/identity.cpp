// Identity: whether the same row has the same explanation twice (Bhatt, Weller, Moura 2020, appendix),
//   D(g(x), g'(x)),   D = l0 by default: the number of players whose attribution differs,
// where g' is g called again with fresh random streams, and g(x) is the explanation as given.
//
// A deterministic g scores exactly 0; a g that samples coalitions, orders or noise does not, and a distance such as l2
// then says by how much. Attributions that differ by less than a millionth of the row's largest are equal: such
// differences are the rounding of float32, which other processors do otherwise. The second seed depends on the
// context's seed and the first one, and always differs from the first. Undefined where an explanation is not all
// numbers. Cost: one more explanation of each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

struct IdentityOptions {
  ComparisonOptions comparison = {.distance = "l0", .normalise = "raw"};
  void describe(OptionVisitor& visit) { comparison.describe(visit); }
};

// Of the largest |attribution| of a row.
constexpr float kRoundingOfRow = 1e-6F;

// `again` with the values as given where both are equal up to rounding.
std::vector<float> without_rounding(std::span<const float> given, std::span<const float> again) {
  float largest = 0;
  for (const float value : given) largest = std::max(largest, std::abs(value));
  std::vector<float> made(again.begin(), again.end());
  for (size_t i = 0; i < made.size(); i++) {
    if (std::abs(made[i] - given[i]) <= kRoundingOfRow * largest) made[i] = given[i];
  }
  return made;
}

void score_identity(const EvaluateTask& task, const IdentityOptions& options, Scores& scores, const Context& context) {
  const Comparison compare(task.explanations.values.view(), options.comparison);
  RowReasons reasons = given_reasons(task.explanations.values.view());
  explain_all_again(
      task, {.seed = fresh_seed(context.seed, task.method_seed)}, {},
      [&](size_t row, std::span<const float> values) {
        scores.values[row] = compare(row, without_rounding(task.explanations.values.row(row), values), reasons);
      },
      scores.evaluations, context, "identity");
  reasons.store(scores);
  const bool sampled = find_method(task.method->name).sampled;
  scores.notes.push_back(
      fmt::format("the explanations as given, beside {} called once more {}", task.method->name,
                  sampled ? "with fresh random streams"
                          : "(it does not sample: a difference means another build, model, data or fewer digits)"));
}

}  // namespace

CriterionInfo identity_criterion() {
  return with_criterion_options<ScoredBy<score_identity, refuses_again>>(
      {.name = "identity",
       .title = "Whether the same row has the same explanation twice",
       .family = "predictability",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "1 explanation",
       .direction = Direction::lower,
       .range = "0 to d (l0), 0 or more",
       .needs = {.model = true, .explainer = true},
       .of_paper = true,
       .scale_dependent = &distance_has_scale});
}

}  // namespace assay

// Compatibility: how well the attributions add up to the model's value (Bhatt, Weller, Moura 2020, appendix).
//   form=printed:  |sum over i of phi_i - f(x)|                    as the paper prints it
//   form=gap:      |base + sum over i of phi_i - f(x)|             the completeness gap
// f(x) is the explained value of the row and base that of the reference, both as stored with the explanations. A
// complete method (Shapley values, DeepLift, integrated gradients) has a gap of 0, up to rounding or its tolerance. Its
// printed form is |base|, which says something about the reference, not about the explanation.
//
// A table has the mean of the other form. The gap is undefined without a base value (methods that use no reference,
// attributions made elsewhere). If the explanations have no f(x), the model is run once for each row; without a model
// the row is undefined.
// Cost: none, or 1 evaluation for each row of attributions made elsewhere. Sums in float64.
// Deviation from the paper: none for form=printed.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

constexpr std::string_view kNoBase = "no base value";
constexpr std::string_view kNoOutput = "the explained value is not known";

// The explained values, from the model where the explanations do not hold them.
std::vector<double> explained_outputs(const EvaluateTask& task, Scores& scores, const Context& context) {
  std::vector<double> outputs = task.explanations.output;
  outputs.resize(task.rows(), NAN);
  std::vector<size_t> missing;
  for (size_t r = 0; r < outputs.size(); r++) {
    if (std::isnan(outputs[r])) missing.push_back(r);
  }
  const bool can_ask = task.subject.model != nullptr && task.subject.rows != nullptr && task.subject.targets != nullptr;
  if (missing.empty() || !can_ask) return outputs;
  const ValueFunction value(*task.subject.model, task.subject.rows->x.view(), *task.subject.targets, context);
  if (task.subject.targets->information) scores.evaluations += task.rows();
  predict_made_rows(
      *task.subject.model, missing.size(),
      [&](size_t i, std::span<float> row) { std::ranges::copy(task.subject.rows->x.row(missing[i]), row.begin()); },
      [&](size_t i, std::span<const float> out) {
        value.apply_to_rows(missing[i], MatrixView<const float>(out.data(), 1, out.size()), {&outputs[missing[i]], 1});
      },
      context);
  scores.evaluations += missing.size();
  return outputs;
}

struct CompatibilityOptions {
  std::string form = "printed";

  void describe(OptionVisitor& visit) {
    visit.choice("form", form, "attributions alone against the value, or with the base value", {"printed", "gap"});
  }
};

void score_compatibility(const EvaluateTask& task, const CompatibilityOptions& options, Scores& scores,
                         const Context& context) {
  const Explanations& explanations = task.explanations;
  const std::vector<double> outputs = explained_outputs(task, scores, context);
  const bool gap = options.form == "gap";
  UndefinedCounts undefined;
  RunningMoments other;
  for (size_t r = 0; r < task.rows(); r++) {
    const std::span<const float> values = explanations.values.row(r);
    if (!all_finite(values)) {
      undefined.add(kNotFinite);
      continue;
    }
    if (!std::isfinite(outputs[r])) {
      undefined.add(kNoOutput);
      continue;
    }
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const double base = r < explanations.base.size() ? explanations.base[r] : NAN;
    const double printed = std::abs(sum - outputs[r]);
    const double with_base = std::abs(sum + base - outputs[r]);
    scores.values[r] = gap ? with_base : printed;
    if (std::isnan(scores.values[r])) undefined.add(kNoBase);
    if (const double beside = gap ? printed : with_base; !std::isnan(beside)) other.add(beside);
  }
  scores.tables.push_back({.name = gap ? "printed form" : "completeness gap",
                           .columns = {"mean", "stderr", "rows"},
                           .rows = {{other.mean(), other.standard_error(), static_cast<double>(other.count())}}});
  scores.undefined = undefined.take();
}

}  // namespace

CriterionInfo compatibility_criterion() {
  return with_criterion_options<ScoredBy<score_compatibility>>(
      {.name = "compatibility",
       .title = "How far the attributions are from adding up to the output",
       .family = "predictability",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "none",
       .direction = Direction::lower,
       .range = "0 or more",
       .reads_signs = true,
       .of_paper = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay

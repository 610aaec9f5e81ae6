#include "assay/evaluate/compatibility.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "assay/evaluate/common.h"
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
  const bool can_ask = task.model != nullptr && task.data != nullptr && task.targets != nullptr;
  if (missing.empty() || !can_ask) return outputs;
  const ValueFunction value(*task.model, task.data->x.view(), *task.targets, context);
  if (task.targets->information) scores.evaluations += task.rows();
  predict_made_rows(
      *task.model, missing.size(),
      [&](size_t i, std::span<float> row) { std::ranges::copy(task.data->x.row(missing[i]), row.begin()); },
      [&](size_t i, std::span<const float> out) {
        value.apply_to_rows(missing[i], MatrixView<const float>(out.data(), 1, out.size()), {&outputs[missing[i]], 1});
      },
      context);
  scores.evaluations += missing.size();
  return outputs;
}

}  // namespace

void Compatibility::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const Explanations& explanations = task.explanations;
  const std::vector<double> outputs = explained_outputs(task, scores, context);
  const bool gap = options_.form == "gap";
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

CriterionInfo compatibility_criterion() {
  return with_criterion_options<Compatibility>({.name = "compatibility",
                                                .title = "How far the attributions are from adding up to the output",
                                                .family = "predictability",
                                                .citation = "Bhatt, Weller, Moura (2020)",
                                                .cost = "none",
                                                .direction = Direction::lower,
                                                .range = "0 or more"});
}

}  // namespace assay

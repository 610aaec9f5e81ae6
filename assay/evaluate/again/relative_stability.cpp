#include "assay/evaluate/again/relative_stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/again/row_reasons.h"
#include "assay/evaluate/common.h"
#include "assay/explain/target.h"

namespace assay {
namespace {

constexpr std::string_view kNoOutputs = "the model's outputs are not all numbers";
constexpr std::string_view kInfiniteInputs = "the row, or a perturbed one, has an infinite input";
constexpr std::string_view kAllMissing = "all inputs are missing";
constexpr std::string_view kNoneOfItsClass = "no perturbed row keeps the predicted class";
constexpr std::string_view kOnlyZeros = "no column that is neither 0 nor missing was moved";

bool any_missing(std::span<const float> values) {
  return std::ranges::any_of(values, [](float v) { return std::isnan(v); });
}

Matrix all_outputs(const EvaluateTask& task, const Context& context) {
  const Matrix& x = task.subject.rows->x;
  Matrix made(x.rows(), task.subject.model->info().outputs());
  predict_made_rows(
      *task.subject.model, x.rows(), [&](size_t i, std::span<float> row) { std::ranges::copy(x.row(i), row.begin()); },
      [&](size_t i, std::span<const float> outputs) { std::ranges::copy(outputs, made.row(i).begin()); }, context);
  return made;
}

// Draws of one row, so far.
struct State {
  double largest = -1;
  bool kept_class = false;
};

}  // namespace

double relative_change(std::span<const float> from, std::span<const float> to, double zero) {
  double sum = 0;
  for (size_t i = 0; i < from.size(); i++) {
    const double unit = from[i] == 0 ? zero : from[i];
    if (unit == 0 || std::isnan(from[i])) continue;
    const double change = (static_cast<double>(from[i]) - to[i]) / unit;
    sum += change * change;
  }
  return std::sqrt(sum);
}

std::optional<Refusal> refuses_relative(const EvaluateTask& task, const RelativeStabilityOptions& options) {
  if (const auto reason = refuses_unit(task, options.unit.space)) return reason;
  return refuses_again(task);
}

void score_relative_over(const EvaluateTask& task, const RelativeStabilityOptions& options, RelativeTo to,
                         const Perturb& perturb, std::string_view name, Scores& scores, const Context& context) {
  const MatrixView<const float> given = task.explanations.values.view();
  const ModelInfo& info = task.subject.model->info();
  const bool classes = !info.class_names.empty();
  const bool of_output = to == RelativeTo::output;
  const double zero = options.zeros == "epsilon" ? options.epsilon : 0;
  RowReasons reasons = given_reasons(given);
  for (size_t r = 0; r < given.rows() && zero == 0; r++) {
    if (all_zero(given.row(r))) reasons.set(r, kAllZero);
  }
  Matrix outputs;
  if (classes || of_output) {
    outputs = all_outputs(task, context);
    scores.evaluations += task.rows();
  }
  for (size_t r = 0; r < given.rows(); r++) {
    // Without a number there is no class to keep.
    if (classes && any_missing(outputs.row(r))) reasons.set(r, kNoOutputs);
    if (!of_output && std::ranges::all_of(task.subject.rows->x.row(r), [](float v) { return std::isnan(v); })) {
      reasons.set(r, kAllMissing);
    }
  }
  std::vector<State> states(task.rows());
  explain_perturbed(
      task, static_cast<size_t>(options.samples), perturb, classes || of_output,
      [&](const PerturbedRow& at) {
        State& state = states[at.row];
        if (classes && any_missing(at.outputs)) return reasons.set(at.row, kNoOutputs);
        if (classes && predicted_class(info, at.outputs) != predicted_class(info, outputs.row(at.row))) return;
        state.kept_class = true;
        if (!all_finite(at.values)) return reasons.set(at.row, kAgainNotFinite);
        const double change = of_output ? distance_between(ExplanationDistance::l2, outputs.row(at.row), at.outputs)
                                        : relative_change(task.subject.rows->x.row(at.row), at.point, zero);
        if (!std::isfinite(change)) return reasons.set(at.row, of_output ? kNoOutputs : kInfiniteInputs);
        // Nothing is relative to a change of nothing but zeros.
        if (!of_output && zero == 0 && change == 0) return;
        const double apart = relative_change(given.row(at.row), at.values, zero);
        state.largest = std::max(state.largest, apart / std::max(change, options.epsilon));
      },
      scores.evaluations, context, name);
  for (size_t r = 0; r < states.size(); r++) {
    scores.values[r] = states[r].largest;
    if (!states[r].kept_class) reasons.set(r, kNoneOfItsClass);
    if (states[r].largest < 0) reasons.set(r, kOnlyZeros);
  }
  reasons.store(scores);
}

void score_relative(const EvaluateTask& task, const RelativeStabilityOptions& options, RelativeTo to,
                    std::string_view name, Scores& scores, const Context& context) {
  std::vector<float> units = column_units(task, options.unit.space);
  scores.notes.push_back(
      fmt::format("the largest of {} copies with normal noise of deviation {} {}{}", options.samples, options.noise,
                  options.unit.space == "raw" ? "(raw units)" : "times that of the pool's columns",
                  task.subject.model->info().class_names.empty() ? "" : ", those alone that keep the predicted class"));
  if (options.zeros == "leave_out") {
    scores.notes.emplace_back("players of attribution 0, and columns of value 0, are left out of relative changes");
  }
  if (std::ranges::all_of(units, [](float unit) { return unit == 0; })) {
    scores.undefined = {{std::string(kNothingMoves), task.rows()}};
    return;
  }
  const auto samples = static_cast<size_t>(options.samples);
  const Perturb noise = make_noise(NoiseShape::normal, options.noise, std::move(units), samples, context.seed, name);
  score_relative_over(task, options, to, noise, name, scores, context);
}

}  // namespace assay

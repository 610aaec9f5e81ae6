#include "assay/evaluate/again/explain_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/explain/games/value_function.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

// Numbers of one call, rows, outputs and attributions together, unless one row has more. Progress and cancellation come
// between calls.
constexpr size_t kNumbersPerCall = size_t{1} << 20;

// Rows, by their place, for which the model gives a number.
std::vector<size_t> rows_with_value(const ExplainTask& task, const Context& context) {
  const ValueFunction value(task.model, task.rows, task.targets, context);
  Matrix outputs(task.rows.rows(), task.model.info().outputs());
  task.model.predict(task.rows, outputs.view(), context);
  std::vector<double> found(task.rows.rows());
  value.apply_to_rows(0, outputs.view(), found);
  std::vector<size_t> finite;
  for (size_t i = 0; i < found.size(); i++) {
    if (std::isfinite(found[i])) finite.push_back(i);
  }
  return finite;
}

}  // namespace

const Reference& reference_or_none(const EvaluateTask& task) {
  static const Reference none = {};
  return task.subject.reference == nullptr ? none : *task.subject.reference;
}

std::optional<Refusal> refuses_again(const EvaluateTask& task) {
  const Reference& reference = reference_or_none(task);
  if (find_method(task.method->name).uses_reference && reference.rows.rows() == 0) {
    return Refusal("needs the reference of the explanations, to make them again", Need::reference);
  }
  const ExplainTask again{*task.subject.model, task.subject.rows->x.view(), *task.subject.targets, reference,
                          *task.subject.players};
  const std::optional<Refusal> reason = refusal(*task.method, again);
  if (!reason) return {};
  return Refusal(fmt::format("cannot make the explanations again: {}", reason->reason), reason->need);
}

uint64_t fresh_seed(uint64_t seed, uint64_t method_seed) {
  RandomStream random(seed, "identity", method_seed);
  uint64_t fresh = random.bits64();
  while (fresh == method_seed) fresh = random.bits64();
  return fresh;
}

Matrix explain_rows_again(const EvaluateTask& task, const Changes& changes, MatrixView<const float> rows,
                          std::span<const size_t> row_of, uint64_t& evaluations, const Context& context) {
  const Model& model = changes.model == nullptr ? *task.subject.model : *changes.model;
  const Reference& reference = changes.reference == nullptr ? reference_or_none(task) : *changes.reference;
  const Targets targets = select_targets(*task.subject.targets, row_of);
  const ExplainTask whole{model, rows, targets, reference, *task.subject.players};
  Context inner = context.quiet();
  inner.seed = changes.seed.value_or(task.method_seed);
  try {
    Explanations made = explain(*task.method, whole, inner);
    evaluations += made.evaluations;
    return std::move(made.values);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) throw;
    // One row without a number refuses them all; the others are explained without it.
    const std::vector<size_t> finite = rows_with_value(whole, inner);
    evaluations += rows.rows();
    if (finite.size() == rows.rows()) throw;
    Matrix values(rows.rows(), task.subject.players->size());
    std::ranges::fill(values.values(), NAN);
    if (finite.empty()) return values;
    Matrix kept(finite.size(), rows.cols());
    std::vector<size_t> kept_row_of(finite.size());
    for (size_t i = 0; i < finite.size(); i++) {
      std::ranges::copy(rows.row(finite[i]), kept.row(i).begin());
      kept_row_of[i] = row_of[finite[i]];
    }
    const Matrix found = explain_rows_again(task, changes, kept.view(), kept_row_of, evaluations, context);
    for (size_t i = 0; i < finite.size(); i++) std::ranges::copy(found.row(i), values.row(finite[i]).begin());
    return values;
  }
}

size_t rows_per_call(const EvaluateTask& task) {
  const size_t of_row =
      task.subject.rows->x.cols() + task.subject.model->info().outputs() + task.explanations.players();
  return std::max<size_t>(kNumbersPerCall / of_row, 1);
}

void explain_all_again(const EvaluateTask& task, const Changes& changes,
                       const std::function<void(std::span<float> row)>& change,
                       const std::function<void(size_t row, std::span<const float> values)>& take,
                       uint64_t& evaluations, const Context& context, std::string_view name) {
  const Matrix& x = task.subject.rows->x;
  const size_t turn = std::min(rows_per_call(task), x.rows());
  Matrix changed(change ? turn : 0, change ? x.cols() : 0);
  std::vector<size_t> row_of(turn);
  const Context inner = context.quiet();
  ProgressScope progress(context, name, x.rows());
  for (size_t begin = 0; begin < x.rows(); begin += turn) {
    const size_t here = std::min(turn, x.rows() - begin);
    MatrixView<const float> rows = x.view().rows_between(begin, begin + here);
    if (change) {
      parallel_blocks(inner, here, kRowsPerTask, [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          std::ranges::copy(x.row(begin + i), changed.row(i).begin());
          change(changed.row(i));
        }
      });
      rows = changed.view().rows_between(0, here);
    }
    std::iota(row_of.begin(), row_of.end(), begin);
    const Matrix values = explain_rows_again(task, changes, rows, std::span(row_of).first(here), evaluations, inner);
    parallel_blocks(inner, here, kRowsPerTask, [&](const Block& block) {
      for (size_t i = block.begin; i < block.end; i++) take(begin + i, values.row(i));
    });
    progress.advance(here);
  }
}

}  // namespace assay

#include "assay/explain/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/explain/games/value_function.h"
#include "assay/explain/kernels/row_loops.h"

namespace assay {
namespace {

constexpr size_t kPointsPerThread = size_t{1} << 13;
constexpr size_t kMostPoints = size_t{1} << 15;
// Of points, gradients, weights and outputs together.
constexpr size_t kBytesPerCall = size_t{32} << 20;
// Rows of at most kNarrow columns are multiplied kRowsOfVectors at a time: a multiple of all vectors' lanes, few enough
// to stay in the first-level cache.
constexpr size_t kNarrow = 128;
constexpr size_t kRowsOfVectors = 16;

}  // namespace

std::optional<Refusal> refuses_information(const ExplainTask& task) {
  if (!task.targets.information) return {};
  return "explains an output; the information form is a value of coalition games";
}

std::optional<Refusal> refuses_gradient(const ExplainTask& task) {
  if (auto reason = refuses_information(task)) return reason;
  if (task.model.differentiable() != nullptr) return {};
  const ModelInfo& info = task.model.info();
  return fmt::format("needs a gradient, and {} has none{}{}", info.name, info.no_gradient.empty() ? "" : ": ",
                     info.no_gradient);
}

size_t points_per_call(const ExplainTask& task, const Context& context) {
  const ModelInfo& info = task.model.info();
  const size_t bytes = (2 * info.features() + 2 * info.outputs()) * sizeof(float);
  const size_t wanted = std::min(kMostPoints, kPointsPerThread * std::max(1U, context.thread_count()));
  return std::clamp<size_t>(kBytesPerCall / std::max<size_t>(bytes, 1), 1, wanted);
}

size_t items_per_block(size_t elements) {
  constexpr size_t kElements = size_t{1} << 15;
  return std::max<size_t>(kElements / std::max<size_t>(elements, 1), 1);
}

void TargetWeights::write(size_t point, uint32_t target) {
  const auto weights = weights_.row(point);
  if (held_[point] != kNone) weights[targets_->terms[held_[point]].output] = 0;
  weights[targets_->terms[target].output] = targets_->terms[target].scale;
  held_[point] = target;
}

void multiply_rows_by_way(std::span<const float> from, MatrixView<const float> rows, MatrixView<float> values) {
  const size_t columns = from.size();
  const bool dense = rows.stride() == columns && values.stride() == columns;
  // Tables have fewer columns than vectors can hold: so many rows at a time fill whole vectors.
  const size_t group = dense && columns <= kNarrow ? kRowsOfVectors : 1;
  std::vector<float> repeated(group * columns);
  for (size_t k = 0; k < group; k++) std::copy(from.begin(), from.end(), repeated.data() + k * columns);
  for (size_t r = 0; r < values.rows(); r += group) {
    const size_t count = std::min(group, values.rows() - r) * columns;
    multiply_by_way(repeated.data(), rows.row(r).data(), count, values.row(r).data());
  }
}

void gradients_by_player(const ExplainTask& task, Attributions& out, const Context& context, std::string_view name,
                         const std::function<void(MatrixView<float> gradients, size_t begin)>& finish) {
  const size_t rows = task.rows.rows();
  const size_t block_rows = std::min(points_per_call(task, context), rows);
  const bool in_place = task.players.are_columns();
  TargetWeights weights(task, block_rows);
  Matrix by_column(in_place ? 0 : block_rows, in_place ? 0 : task.rows.cols());
  Matrix outputs(block_rows, task.model.info().outputs());
  out.output.resize(rows);
  const Context inner = context.quiet();
  const ValueFunction value(task.model, task.rows, task.targets, inner);
  ProgressScope progress(context, name, rows);
  for (size_t begin = 0; begin < rows; begin += block_rows) {
    const size_t end = std::min(begin + block_rows, rows);
    for (size_t r = begin; r < end; r++) weights.set(r - begin, r);
    const MatrixView<float> values = out.values.rows_between(begin, end);
    const MatrixView<float> gradients = in_place ? values : by_column.view().rows_between(0, end - begin);
    const MatrixView<float> found = outputs.view().rows_between(0, end - begin);
    task.model.differentiable()->gradient(task.rows.rows_between(begin, end), weights.first(end - begin), gradients,
                                          found, inner);
    value.apply_to_rows(begin, found, std::span(out.output).subspan(begin, end - begin));
    if (finish || !in_place) {
      parallel_blocks(inner, end - begin, items_per_block(task.rows.cols()), [&](const Block& block) {
        const auto part = gradients.rows_between(block.begin, block.end);
        if (finish) finish(part, begin + block.begin);
        if (!in_place) sum_by_player(task.players, part, values.rows_between(block.begin, block.end));
      });
    }
    progress.advance(end - begin);
  }
  out.evaluations += rows;
}

void VectorMoments::add(std::span<const double> values) {
  assert(values.size() == first_.size());
  if (count_++ == 0) {
    std::copy(values.begin(), values.end(), first_.begin());
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill(squares_.begin(), squares_.end(), 0.0);
    std::fill(last_.begin(), last_.end(), 0.0);
    std::fill(step_.begin(), step_.end(), 0.0);
    return;
  }
  for (size_t i = 0; i < values.size(); i++) {
    const double difference = values[i] - first_[i];
    sums_[i] += difference;
    if (!strata_) {
      squares_[i] += difference * difference;
      continue;
    }
    const double step = difference - std::exchange(last_[i], difference);
    const double bend = step - std::exchange(step_[i], step);
    if (count_ > 2) squares_[i] += bend * bend;
  }
}

void VectorMoments::add_rows(MatrixView<const float> values) {
  assert(!strata_ && values.cols() == first_.size() && values.stride() == values.cols());
  size_t begin = 0;
  if (count_ == 0 && values.rows() > 0) {
    const auto row = values.row(0);
    std::copy(row.begin(), row.end(), first_.begin());
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill(squares_.begin(), squares_.end(), 0.0);
    begin = 1;
  }
  count_ += values.rows();
  add_moments(values.data() + begin * values.cols(), first_.data(), values.rows() - begin, values.cols(), sums_.data(),
              squares_.data());
}

void VectorMoments::clear(size_t width) {
  clear();
  for (auto* numbers : {&first_, &sums_, &squares_}) numbers->resize(width);
  for (auto* numbers : {&last_, &step_}) numbers->resize(strata_ ? width : 0);
}

double VectorMoments::mean(size_t i) const { return first_[i] + sums_[i] / static_cast<double>(count_); }

double VectorMoments::standard_error(size_t i) const {
  if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(count_);
  if (strata_ && count_ > 2) return std::sqrt(squares_[i] / (6 * (count - 2) * count));
  if (strata_) return std::abs(last_[i]) / 2;
  const double variance = (squares_[i] - sums_[i] * sums_[i] / count) / (count - 1);
  // Rounding may leave a negative rest; NaN must stay.
  return std::sqrt(variance < 0 ? 0 : variance / count);
}

void VectorMoments::store(std::span<float> means, std::span<float> errors) const {
  assert(means.size() == first_.size() && (errors.empty() || errors.size() == means.size()));
  const bool plain_errors = !strata_ && !errors.empty();
  finish_moments(first_.data(), sums_.data(), squares_.data(), count_, means.size(), means.data(),
                 plain_errors ? errors.data() : nullptr);
  if (plain_errors) return;
  for (size_t i = 0; i < errors.size(); i++) errors[i] = static_cast<float>(standard_error(i));
}

}  // namespace assay

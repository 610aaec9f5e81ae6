// What methods share: the refusals and calls of those that use gradients, and means over background rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/parallel.h"
#include "assay/core/refusal.h"
#include "assay/explain/explainer.h"

namespace assay {

// For `refuses`: the information form is no output of the model, and gradients are of outputs.
std::optional<Refusal> refuses_information(const ExplainTask& task);
// The information form, or a model without gradient.
std::optional<Refusal> refuses_gradient(const ExplainTask& task);

// Points (rows to differentiate) that one call of the model is given: enough for all threads, few enough that points
// and gradients stay near the cache and in bounded memory. No result depends on it.
size_t points_per_call(const ExplainTask& task, const Context& context);

// The seeds of backward passes whose gradients are those of explained values. From call to call most points keep their
// target, so a seed is written only where it changes.
class TargetWeights {
 public:
  TargetWeights(const ExplainTask& task, size_t points)
      : targets_(&task.targets), held_(points, kNone), weights_(points, task.model.info().outputs()) {}

  // Point k gets the target of this row. Different points may be set from several threads at once.
  void set(size_t point, size_t row) {
    if (held_[point] != targets_->of_row[row]) write(point, targets_->of_row[row]);
  }
  // Of the first `count` points.
  MatrixView<const float> first(size_t count) const { return weights_.view().rows_between(0, count); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  void write(size_t point, uint32_t target);

  const Targets* targets_;
  std::vector<uint32_t> held_;
  Matrix weights_;
};

// Items that one thread takes at a time in light loops beside the model, for items of so many elements: enough that
// handing them out costs little.
size_t items_per_block(size_t elements);

// values[r][c] *= rows[r][c] - from[c]
void multiply_rows_by_way(std::span<const float> from, MatrixView<const float> rows, MatrixView<float> values);

// values[r][p] = sum over p's columns of the gradient of row r's value, for all rows, in blocks; `finish(gradients,
// begin)` changes the gradients by column of rows begin, begin + 1, ... in place before they are summed, and may come
// from several threads at once. Where players are columns the model writes its gradients into the values. Fills the
// output as well.
void gradients_by_player(const ExplainTask& task, Attributions& out, const Context& context, std::string_view name,
                         const std::function<void(MatrixView<float> gradients, size_t begin)>& finish);

// Mean and standard error of vectors that come one at a time, in float64: an explanation's values over background rows
// or over draws.
class VectorMoments {
 public:
  explicit VectorMoments(size_t width) : first_(width), sums_(width), squares_(width) {}

  void add(std::span<const double> values);
  // Adds each row of a dense matrix.
  void add_rows(MatrixView<const float> values);
  void clear() { count_ = 0; }
  // The same for vectors of another width.
  void clear(size_t width);
  size_t count() const { return count_; }
  double mean(size_t i) const;
  // Of the mean: standard deviation over sqrt(count); NaN for one value.
  double standard_error(size_t i) const;
  // errors may be empty.
  void store(std::span<float> means, std::span<float> errors) const;

 private:
  size_t count_ = 0;
  // Differences from the first vector are summed: what never changes has no error at all.
  std::vector<double> first_;
  std::vector<double> sums_;
  std::vector<double> squares_;
};

}  // namespace assay

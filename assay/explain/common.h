// What methods share: refusals and model calls of methods that use gradients, and means over background rows.
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

// For `refuses`: refuses the information form, which is no output of the model and so has no gradient.
std::optional<Refusal> refuses_information(const ExplainTask& task);
// Refuses the information form, and a model without gradient.
std::optional<Refusal> refuses_gradient(const ExplainTask& task);

// How many points (rows to differentiate) to give to one call of the model: enough for all threads, but few enough that
// points and gradients stay near the cache. No result depends on it.
size_t points_per_call(const ExplainTask& task, const Context& context);

// The weights of the outputs from which a backward pass starts, so that gradients are those of the explained values.
// Most points keep their target from call to call, so weights are written only where the target changes.
class TargetWeights {
 public:
  TargetWeights(const ExplainTask& task, size_t points)
      : targets_(&task.targets), held_(points, kNone), weights_(points, task.model.info().outputs()) {}

  // Gives this point the target of this row. Different points may be set from several threads at once.
  void set(size_t point, size_t row) {
    if (held_[point] != targets_->of_row[row]) write(point, targets_->of_row[row]);
  }
  // The weights of the first `count` points.
  MatrixView<const float> first(size_t count) const { return weights_.view().rows_between(0, count); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  void write(size_t point, uint32_t target);

  const Targets* targets_;
  std::vector<uint32_t> held_;
  Matrix weights_;
};

// How many items of `elements` numbers one thread takes at a time in cheap loops: enough that scheduling costs little.
size_t items_per_block(size_t elements);

// values[r][c] *= rows[r][c] - from[c]
void multiply_rows_by_way(std::span<const float> from, MatrixView<const float> rows, MatrixView<float> values);

// values[r][p] = sum over p's columns of the gradient of row r's explained value. Also fills out.output.
// `finish(gradients, begin)` changes the gradients of rows begin, begin + 1, ... in place before they are summed by
// player; it may be called from several threads at once.
void gradients_by_player(const ExplainTask& task, Attributions& out, const Context& context, std::string_view name,
                         const std::function<void(MatrixView<float> gradients, size_t begin)>& finish);

// Mean and standard error of vectors that are added one at a time, in float64: for example of an explanation's values
// over background rows or draws.
//
// strata: the vectors come from ordered strata, one from each, in their order. The error of the mean then comes from
// the spread within strata, which one vector alone does not show. It is found from how far each vector lies from the
// middle of its two neighbours: variance of the mean = sum of (x[i-1] - 2 x[i] + x[i+1])^2 / (6 (n - 2) n), an
// estimator for ordered samples (Wolter 2007, chapter 8) that a steady rise over the strata does not change.
class VectorMoments {
 public:
  explicit VectorMoments(size_t width, bool strata = false)
      : strata_(strata), first_(width), sums_(width), squares_(width), last_(strata ? width : 0), step_(last_) {}

  void add(std::span<const double> values);
  // Adds each row of a dense matrix. Not for strata.
  void add_rows(MatrixView<const float> values);
  void clear() { count_ = 0; }
  // Clears, for vectors of another width.
  void clear(size_t width);
  size_t count() const { return count_; }
  double mean(size_t i) const;
  // Of the mean: standard deviation / sqrt(count), unless there are strata; NaN for one value.
  double standard_error(size_t i) const;
  // errors may be empty.
  void store(std::span<float> means, std::span<float> errors) const;

 private:
  bool strata_;
  size_t count_ = 0;
  // Differences from the first vector are summed, so that a value that never changes has an error of exactly 0.
  std::vector<double> first_;
  std::vector<double> sums_;
  std::vector<double> squares_;  // with strata: of x[i-1] - 2 x[i] + x[i+1]
  // With strata: the last vector less the first, and less the one before it.
  std::vector<double> last_;
  std::vector<double> step_;
};

}  // namespace assay

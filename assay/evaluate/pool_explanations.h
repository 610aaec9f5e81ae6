// Explanations of the rows of a pool, each made at most once and only when a criterion needs it.
//
// A row of the pool has the target that all explained rows share. If each explained row has its own predicted class as
// target, so has each row of the pool. So a neighbour of the same predicted class has the same target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/explain/subject.h"

namespace assay {

class PoolExplanations {
 public:
  // Attributions of these rows of the pool, one row each.
  using Make = std::function<Matrix(std::span<const size_t> rows, const Context& context)>;

  // Given: a row for each row of the pool.
  explicit PoolExplanations(Matrix given);
  // Made when needed.
  PoolExplanations(size_t rows, size_t players, Make make);

  size_t rows() const { return values_.rows(); }
  size_t players() const { return values_.cols(); }
  // Makes the attributions of these rows (in any order, repeats allowed) where they are missing. One thread at a time.
  void need(std::span<const size_t> rows, const Context& context);
  void need_all(const Context& context);
  // Stores attributions that an earlier run made: a row of `values` for each of `rows`. None of them may be known yet.
  void know(std::span<const size_t> rows, MatrixView<const float> values);
  std::vector<size_t> known_rows() const;  // ascending
  // Rows x players; only rows that were needed, or given, mean anything.
  MatrixView<const float> values() const { return values_.view(); }
  // Whether need() has nothing left to do.
  bool all_known() const { return !make_ || explained_ == rows(); }
  size_t explained() const { return explained_; }  // rows made so far, none when they were given

 private:
  Matrix values_;
  std::vector<bool> known_;
  Make make_;
  size_t explained_ = 0;
};

// Explanations of the subject's pool by this method and seed, made when needed. The pool must have targets. What the
// subject points to must outlive the result.
PoolExplanations pool_explanations_by(const Subject& subject, const Spec& method, uint64_t seed);

}  // namespace assay

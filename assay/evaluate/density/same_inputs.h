// Finds the reference rows that have the same inputs as a row: its copies, and the row itself if it is among them.
//
// By a hash of the inputs, then value by value; -0 equals 0, and missing equals missing.
// Cost: one pass over the reference rows; a query reads its own row and the reference rows of the same hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

class SameInputs {
 public:
  // The rows of `inputs` with these indices; the matrix must outlive this.
  SameInputs(MatrixView<const float> inputs, std::span<const size_t> rows);

  // Positions in `rows` of the rows that equal x, ascending. May be called from several threads at once.
  std::vector<size_t> of(std::span<const float> x) const;

 private:
  MatrixView<const float> inputs_;
  std::vector<size_t> rows_;
  std::vector<std::pair<uint64_t, size_t>> by_hash_;  // hash and position, sorted
};

}  // namespace assay

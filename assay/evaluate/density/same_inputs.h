// Which reference rows have the inputs of a row: copies of it, itself among them where it is one of them.
//
// Found by a hash of the inputs and compared value by value; -0 equals 0, and missing equals missing.
// Cost: a pass over the reference rows, then one over each row that is asked for and the rows of its hash.
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

  // Positions in `rows` of those that equal x, ascending. From several threads at once.
  std::vector<size_t> of(std::span<const float> x) const;

 private:
  MatrixView<const float> inputs_;
  std::vector<size_t> rows_;
  std::vector<std::pair<uint64_t, size_t>> by_hash_;  // hash and position, sorted
};

}  // namespace assay

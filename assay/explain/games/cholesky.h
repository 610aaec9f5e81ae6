// Cholesky's factorisation of a large matrix K in float64, and the product of rows B with the inverse of K.
//
// K is in the first n rows of an (n + m) x n array, B in the m rows below it:
//
//   factorise   replaces K by L with K = L L', and B by B L'^-1, which costs little extra
//   divide      from these, B K^-1 = (B L'^-1) L^-1
//
// By panels of 64 columns, vectorised with run-time dispatch: Eigen's version is built for the oldest processor we
// support, and takes three times as long for a thousand rows. The order of every sum is fixed, so bits do not depend on
// the number of threads.
//
// Cost: n^3 / 6 + m n^2 multiplications, on all threads.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// The lower triangle of K is read and replaced. False when a pivot is not positive; the array is then undefined.
bool factorise(MatrixView<double> matrix_and_rows, const Context& context);

// After factorise(): rows that were not there before become B L'^-1, as divide() expects them.
void substitute(MatrixView<const double> factor, MatrixView<double> rows, const Context& context);

// After factorise().
void divide(MatrixView<double> matrix_and_rows, const Context& context);

// L of factorise(), kept for rows that come later, a few at a time. Each row costs n^2 multiplications, and its bits do
// not depend on the rows beside it.
class CholeskySolver {
 public:
  CholeskySolver() = default;
  // A copy of the first n rows after factorise().
  CholeskySolver(MatrixView<const double> factor, const Context& context);
  // B becomes B K^-1; on the calling thread.
  void solve(MatrixView<double> rows) const;

 private:
  static constexpr size_t kPanel = 64;
  using Corner = std::array<double, kPanel * kPanel>;

  Matrix64 both_;  // L below the diagonal, L' above it, and zeros
  std::vector<Corner> inverses_;
  std::vector<Corner> turned_;
};

}  // namespace assay

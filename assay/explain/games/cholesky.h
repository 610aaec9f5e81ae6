// Cholesky's factorisation of large matrices in float64, and rows divided by the matrix on the way.
//
// The matrix K stands in the first n rows of an (n + m) x n array, right sides B in the m rows below it:
//
//   factorise   K = L L', and below it B L'^-1: a factorisation takes the rows below a panel along anyway
//   divide      from those, B K^-1 = (B L'^-1) L^-1
//
// By panels of 64 columns, vectorised with run-time dispatch: Eigen's own is built for the oldest processor we support,
// and takes three times as long for a thousand rows. Every element sums in an order that depends on its place alone, so
// bits do not depend on the number of threads.
//
// Cost: n^3 / 6 + m n^2 multiplications, on all threads.
#pragma once

#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// The lower half of K is read and replaced. False when a pivot is not positive; the array is then of no use.
bool factorise(MatrixView<double> matrix_and_rows, const Context& context);

// After factorise().
void divide(MatrixView<double> matrix_and_rows, const Context& context);

}  // namespace assay

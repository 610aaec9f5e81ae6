// Solves a x = b for a symmetric positive (semi)definite a, by Cholesky's factorisation in place: n^3 / 3 operations.
//
// A direction in which a is zero but for rounding gets 0: it does not matter to a step of Newton's method.
#pragma once

#include <span>

#include "assay/core/matrix.h"

namespace assay {

// a: its lower triangle is read and overwritten. b becomes x.
void solve_positive(MatrixView<double> a, std::span<double> b);

}  // namespace assay

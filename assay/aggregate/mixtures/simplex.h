// Small exact tools on the simplex of weights: w_j >= 0, sum of w = 1.
//
// Dense and in float64, for as many weights as there are members: tens, not thousands.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// The nearest weights that are multiples of 2^-24: float32 holds them, and their sum is exactly 1. What rounding leaves
// over goes to the largest.
std::vector<double> representable_weights(std::span<const double> weights);

// Entry j of the simplex is 1.
std::vector<double> vertex_weights(size_t members, size_t j);

// The matrix game min over v in the simplex of max over k of (A v)_k, A a row for each k, by the simplex method with
// Bland's rule on the dual, which has as many constraints as there are weights.
struct MatrixGame {
  std::vector<double> weights;  // v
  std::vector<double> mix;      // of the rows, on their simplex
  // min over j of (mix' A)_j: at most the game's value whatever the rounding of the above, since mix is on the simplex.
  double bound = 0;
};
MatrixGame solve_matrix_game(MatrixView<const double> rows);

// The v of the simplex that minimises gradient . (v - at) + (v - at)' hessian (v - at) / 2, hessian positive
// semidefinite, by an active set. `at` itself when nothing better is found.
std::vector<double> minimise_on_simplex(std::span<const double> at, std::span<const double> gradient,
                                        MatrixView<const double> hessian);

}  // namespace assay

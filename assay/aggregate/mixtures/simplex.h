// Small exact tools on the simplex of weights: w_j >= 0, sum of w = 1.
//
// Dense and in float64, for as many weights as there are members: tens, not thousands.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// Weights rounded to multiples of 2^-24, which are exact in float32. Their sum is exactly 1: the largest weight takes
// up what rounding leaves over.
std::vector<double> representable_weights(std::span<const double> weights);

// All weight on member j.
std::vector<double> vertex_weights(size_t members, size_t j);

// Solves the matrix game min over v in the simplex of max over k of (A v)_k, for A = rows. By the simplex method with
// Bland's rule on the dual problem, which has as many constraints as there are weights.
struct MatrixGame {
  std::vector<double> weights;  // v
  std::vector<double> mix;      // weights of the rows, at least 0, of sum 1
  // min over j of (mix' A)_j. At most the game's value, even if mix is not quite the best: any mix gives a bound.
  double bound = 0;
};
MatrixGame solve_matrix_game(MatrixView<const double> rows);

// The v of the simplex that minimises gradient . (v - at) + (v - at)' hessian (v - at) / 2, by an active set. The
// hessian is positive semidefinite. `at` itself when nothing better is found.
std::vector<double> minimise_on_simplex(std::span<const double> at, std::span<const double> gradient,
                                        MatrixView<const double> hessian);

}  // namespace assay

// The minimum over the simplex of a convex function that grows in proportion to its weights (f(t w) = t f(w), t >= 0),
// with a certificate.
//
// Every subgradient g of such a function satisfies f(v) >= g . v for all v, with equality where it was taken. So any
// mixture of subgradients bounds the minimum from below by its least entry, and the best such mixture is a matrix game
// over all subgradients seen so far (Kelley's cutting planes, 1960). The bound holds whatever the steps were; 1e-8
// times the least value of a vertex is taken off for rounding, in subgradients above all.
//
// Steps: Newton's, on the simplex, with a line search, as long as they halve the gap: where f is smooth, some ten are
// enough. Otherwise points between the best one and the game's, which settle on kinks (Ben-Ameur, Neto 2007).
// Cost: a call of the function each; tens where it is smooth, hundreds where it is not.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// A function's value, a subgradient (or any g with g . v <= f(v) for all v) and second derivatives at one point.
struct SublinearPoint {
  double value = 0;
  std::vector<double> gradient = {};
  Matrix64 hessian = {};  // empty: no Newton steps
};

struct SublinearMinimum {
  std::vector<double> weights;
  double value = 0;
  double bound = 0;  // at most the minimum; never above value
  bool certified = false;
  size_t steps = 0;  // calls of the function
};

using SublinearFunction = std::function<SublinearPoint(std::span<const double> weights)>;

// Ends when value - bound <= gap times the least value of a vertex, gap >= 1e-7, or after most_steps calls. f >= 0.
SublinearMinimum minimise_sublinear(size_t members, const SublinearFunction& function, double gap, size_t most_steps);

}  // namespace assay

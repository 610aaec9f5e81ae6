// Rules for integrals over [0, 1]: sum over k of weights[k] * f(points[k]).
//
// gauss_legendre: n points, exact for polynomials of degree 2 n - 1. Nodes are the roots of the Legendre polynomial
// P_n, moved from [-1, 1] and found by Newton's method in float64; weights are 2 / ((1 - t^2) P_n'(t)^2) (Abramowitz
// and Stegun 25.4.29). Above 1,024 points, [0, 1] is cut into equal panels with at most 1,024 points each, as evenly as
// possible, so that time is in proportion to n; then it is exact for the degree of the panel with fewest points.
// left, right, middle: n equal pieces, each with its left end, right end or middle as point. trapezoid: n points at
// equal distance, with both ends, which have half the weight; so there are n - 1 pieces, and n is at least 2.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace assay {

enum class QuadratureRule { gauss_legendre, trapezoid, left, right, middle };

struct Quadrature {
  std::vector<double> points;   // ascending
  std::vector<double> weights;  // their sum is 1
  size_t size() const { return points.size(); }
};

Quadrature quadrature(QuadratureRule rule, size_t points);

// The rule of this name, which must be that of an enumerator.
QuadratureRule quadrature_rule(std::string_view name);

}  // namespace assay

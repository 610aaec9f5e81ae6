// Rules for integrals over [0, 1]: sum over k of weights[k] * f(points[k]).
//
// gauss_legendre: exact for polynomials of degree 2 n - 1. Nodes are the roots of the Legendre polynomial P_n, moved
// from [-1, 1]; found by Newton's method in float64, weights 2 / ((1 - t^2) P_n'(t)^2) (Abramowitz and Stegun 25.4.29).
// Above 1,024 points it is composite: equal panels of at most 1,024 points each, as equal in number as can be, so that
// finding them takes time in proportion to their number; then exact for the degree of the panel with fewest points.
// left, right, middle: n equal pieces, each by its left end, right end or middle. trapezoid: n points at equal
// distance, both ends among them, with half the weight each; so it has n - 1 pieces, and needs two points.
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

// The rule of this name; it must be one of the enumerators'.
QuadratureRule quadrature_rule(std::string_view name);

}  // namespace assay

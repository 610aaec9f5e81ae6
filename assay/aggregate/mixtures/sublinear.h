// Minimises, over the simplex of weights, a convex function that grows in proportion to them (f(t w) = t f(w), t >= 0),
// and proves a lower bound of the minimum.
//
// Every subgradient g of such a function satisfies f(v) >= g . v for all v, with equality at the point of g. So the
// least entry of any convex combination of subgradients is a lower bound of the minimum. The best such combination
// solves a matrix game over all subgradients seen so far (Kelley's cutting planes, 1960). The bound holds whatever
// steps were taken. It is lowered by 1e-8 times the least value at a vertex, for the rounding of subgradients.
//
// Newton steps on the simplex, with a line search, are taken as long as they halve the gap; where f is smooth, about
// ten are enough. Otherwise the next point lies between the best one and the game's solution, which also finds minima
// at kinks (Ben-Ameur, Neto 2007).
// Cost: one call of the function for each step; tens of steps where f is smooth, hundreds where it is not.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// The function at one point: its value, a subgradient (or any g with g . v <= f(v) for all v) and second derivatives.
struct SublinearPoint {
  double value = 0;
  std::vector<double> gradient = {};
  Matrix64 hessian = {};  // empty: no Newton steps
};

struct SublinearMinimum {
  std::vector<double> weights;
  double value = 0;
  double bound = 0;  // a lower bound of the minimum; never above value
  bool certified = false;
  size_t steps = 0;  // calls of the function
};

using SublinearFunction = std::function<SublinearPoint(std::span<const double> weights)>;

// Ends when value - bound <= gap times the least value at a vertex, or after most_steps calls. gap >= 1e-7; f >= 0.
SublinearMinimum minimise_sublinear(size_t members, const SublinearFunction& function, double gap, size_t most_steps);

}  // namespace assay

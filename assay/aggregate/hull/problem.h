// The convex hull of the members of one row, as the search for its simplest point sees it.
//
// Points are phi = sum over i of lambda_i g_i with lambda >= 0 summing to 1. Entropy H is scale-free, so weights need
// not be normalised while searching. On every cell of the arrangement of {lambda_i = 0} and {phi_k = 0} the |phi_k| are
// linear, hence H is quasi-concave, and so is the l1 norm linear: with a floor under it the cell stays a polytope and
// the least H is at one of its vertices.
//
// Members that are zero, or equal to another, and columns that are zero in all members are left out. Columns that are
// proportional to each other vanish together: they are one group with one hyperplane. With u the size of a group's
// first column and c_j u those of its columns, the group adds C u to the l1 norm and u (C ln u + E) to
// sum |phi| ln |phi|, C = sum c_j, E = sum c_j ln c_j.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/common.h"
#include "assay/core/matrix.h"

namespace assay {

// The best point of the hull so far: the simplest; among those of equal entropy, up to rounding, the longest, as
// entropy is scale-free and says nothing about length.
struct HullPoint {
  std::vector<double> weights = {};  // of the problem's members, at least 0
  double entropy = 0;                // the least seen: that of the point, up to rounding
  double length = 0;                 // l2 norm

  // Whether a point of this entropy and length is better; then these are its numbers, and the caller sets the weights.
  bool improves(double other_entropy, double other_length);
};

// What remains of a value after cancellation is 0 when it is smaller than this share of its parts.
inline constexpr double kCancelledHull = 4e-15;

struct HullProblem {
  std::vector<size_t> member = {};  // of the row, for each of those kept
  Matrix64 values = {};             // members kept x columns kept
  Matrix64 groups = {};             // members kept x groups, the largest entry of each column +-1
  std::vector<double> weight = {};  // C of each group
  std::vector<double> spread = {};  // E of each group
  Matrix64 products = {};           // inner products of the members kept
  double floor = 0;                 // points that are no members have at least this l1 norm
  double least_norm = 0;            // no point of the hull has a smaller l1 norm (a lower bound, not always the least)

  size_t size() const { return values.rows(); }
  size_t group_count() const { return groups.cols(); }
  // Where false, no point of the hull is below the floor.
  bool floor_matters() const { return least_norm < floor; }
  HullPoint vertex(size_t i) const;
};

// The row must have a member that is not zero.
HullProblem hull_problem(const MemberRow& row, double floor);

// Vertices of the arrangement, counted without regard to which exist: C(n + k, n - 1) for n members and k groups.
double vertex_count(const HullProblem& problem);

// A lower bound of the l1 norm over the hull of the points (rows of values): for every sign vector s,
// |phi|_1 >= s . phi >= min over i of s . g_i. Tries a few s.
double least_l1_norm(MatrixView<const double> points);

}  // namespace assay

// The convex hull of the members of one row, as the search for its simplest point sees it.
//
// Points are phi = sum over i of lambda_i g_i with lambda >= 0 summing to 1. Entropy H is scale-free, so weights need
// not be normalised while searching. The hyperplanes {lambda_i = 0} and {phi_k = 0} cut the weights into cells (an
// arrangement). On a cell all |phi_k| are linear, so H is quasi-concave. The l1 norm is linear too, so a cell above the
// floor stays a polytope, and the least H is at one of its vertices.
//
// Members that are zero, or equal to another, and columns that are zero in all members are left out. Columns that are
// proportional to each other are 0 together: they form one group with one hyperplane. If the columns of a group have
// the sizes c_j u, the group adds C u to the l1 norm and u (C ln u + E) to sum |phi| ln |phi|, with C = sum c_j and E =
// sum c_j ln c_j.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/common.h"
#include "assay/core/matrix.h"

namespace assay {

// The best point of the hull so far: the simplest, and among points of equal entropy, up to rounding, the longest.
struct HullPoint {
  std::vector<double> weights = {};  // of the problem's members, at least 0
  double entropy = 0;                // the least seen: that of the point, up to rounding
  double length = 0;                 // l2 norm

  // Whether a point of this entropy and length is better. If so, takes over both numbers; the caller sets the weights.
  bool improves(double other_entropy, double other_length);
};

// A sum of parts that cancel counts as 0 when it is smaller than this share of the parts.
inline constexpr double kCancelledHull = 4e-15;

struct HullProblem {
  std::vector<size_t> member = {};  // for each member kept, its number in the row
  Matrix64 values = {};             // members kept x columns kept
  Matrix64 groups = {};             // members kept x groups, the largest entry of each column +-1
  std::vector<double> weight = {};  // C of each group
  std::vector<double> spread = {};  // E of each group
  Matrix64 products = {};           // inner products of the members kept
  double floor = 0;                 // points that are no members must have at least this l1 norm
  double least_norm = 0;            // a lower bound of the l1 norm of all points of the hull

  size_t size() const { return values.rows(); }
  size_t group_count() const { return groups.cols(); }
  // False: no point of the hull is below the floor.
  bool floor_matters() const { return least_norm < floor; }
  HullPoint vertex(size_t i) const;
};

// The row must have a member that is not zero.
HullProblem hull_problem(const MemberRow& row, double floor);

// The most vertices that the arrangement can have: C(n + k, n - 1) for n members and k groups.
double vertex_count(const HullProblem& problem);

// A lower bound of the l1 norm over the hull of the points (rows of values): for every sign vector s,
// |phi|_1 >= s . phi >= min over i of s . g_i. Tries a few s.
double least_l1_norm(MatrixView<const double> points);

}  // namespace assay

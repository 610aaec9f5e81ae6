// A lower bound of the entropy of all points of the hull, by branch and bound over simplices of weights.
//
// A simplex is cut in two at a point of an edge where a coordinate is 0, until no coordinate changes its sign inside.
// Then entropy H is quasi-concave on the simplex and least at its vertices, which are known. Before that, let x be the
// coordinates that keep their sign, and u_k the largest size at the vertices of another coordinate k. H is at least the
// minimum over
//   x at one of the vertices, |phi_k| at 0 or u_k for each other k
// because H is quasi-concave in the sizes. Only the choices "u_k for the r largest u, 0 for the others" need be tried:
// where a size u_k lowers H, a larger size lowers it more. Another bound is the collision entropy, 2 ln S - ln sum
// phi^2, with S >= min over vertices of s . phi for a vector s of signs. A simplex below the floor is dropped; one that
// the floor crosses is cut at the floor once its signs are fixed.
//
// The simplex of least bound is cut first. The least bound of the simplices that are left holds for the whole hull,
// whenever the search stops. All vertices are points of the hull, so this also finds simple points.
// Cost: O(n d) for each simplex of n points, d logarithms each.
#pragma once

#include <cstddef>

#include "assay/aggregate/hull/problem.h"
#include "assay/core/context.h"

namespace assay {

// Cuts at most `cuts` simplices. Replaces best where it finds a simpler point. Returns a lower bound of the entropy of
// all points of the hull whose l1 norm is at least the floor: best.entropy itself if no lower entropy can exist.
double lower_by_bounding(const HullProblem& problem, size_t cuts, HullPoint& best, const Context& context);

}  // namespace assay

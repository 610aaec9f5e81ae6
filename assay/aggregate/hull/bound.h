// How simple a point of the hull can be at all: branch and bound over simplices of weight space.
//
// A simplex of points is cut in two where a coordinate vanishes on one of its edges, until no coordinate changes its
// sign inside; then entropy is quasi-concave on it and least at its vertices, which are known. Before that, with x the
// coordinates of fixed sign and u_k the largest size of the others at the vertices, H is at least the least over
//   x at one of the vertices, |phi_k| at 0 or u_k for each other k
// because H is quasi-concave in the sizes. Of the choices of 0 or u_k only "the r largest u" need looking at: if
// leaving out a coordinate that is in were no better, H falls in its size from there on, so a larger one would be
// better still. Another bound is the collision entropy, 2 ln S - ln sum phi^2, with S >= min over vertices of s . phi
// for a vector s of signs. A simplex below the floor holds no point; one across it is cut there once its signs are
// fixed.
//
// The simplex of least bound is cut first, so the least bound of what is left is always valid, whenever one stops. The
// vertices met are points of the hull, so this is also a search.
// Cost: O(n d) for each simplex of n points, d logarithms each.
#pragma once

#include <cstddef>

#include "assay/aggregate/hull/problem.h"
#include "assay/core/context.h"

namespace assay {

// Cuts at most this many simplices. Lowers best; returns a lower bound of the entropy of all points of the hull with
// the floor's l1 norm or more: best.entropy itself when nothing lower can exist.
double lower_by_bounding(const HullProblem& problem, size_t cuts, HullPoint& best, const Context& context);

}  // namespace assay

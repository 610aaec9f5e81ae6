// The simplest point of the hull, by looking at every vertex of the arrangement.
//
// A vertex has a support of a members and a - 1 independent groups that vanish. For each support the groups are chosen
// one after the other, in ascending order, each by one step of elimination on a basis of the weights that are left;
// when two basis vectors remain, a line scan finds all choices of the last group at once. A branch is left when no
// weights above 0 can satisfy it: a weight, or a group, that has the same sign on the whole basis.
//
// Cost: at most C(n + k, n - 2) lines of n members and k groups, each O((n + k) log k), fewer where members agree in
// their signs.
#pragma once

#include <cstddef>

#include "assay/aggregate/hull/problem.h"
#include "assay/core/context.h"

namespace assay {

// Lowers best, a point of the hull, to the least entropy among all points of the hull whose l1 norm is at least the
// floor, and its members.
void lower_by_enumeration(const HullProblem& problem, HullPoint& best, const Context& context);

// A local search for hulls with too many vertices: from each member and from the simplest vertices inside edges of the
// hull, at most so many, along lines of the arrangement to simpler vertices, as long as there are any. Lowers best; the
// result is no more complex than the simplest point of any edge.
void lower_by_descent(const HullProblem& problem, size_t edges, HullPoint& best, const Context& context);

}  // namespace assay

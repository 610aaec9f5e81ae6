// The simplest point of the hull, by looking at every vertex of the arrangement.
//
// At a vertex, a members have weights above 0 and a - 1 independent groups (problem.h) are 0. For each set of such
// members the groups are chosen one after the other, in ascending order. Each choice is one step of elimination on a
// basis of the weights that are left. When two basis vectors remain, a line scan finds all choices of the last group at
// once. A choice is given up when no weights above 0 can satisfy it: some weight, or a group that must be 0, has the
// same sign on the whole basis.
//
// Cost: at most C(n + k, n - 2) lines of n members and k groups, each O((n + k) log k), fewer where members agree in
// their signs.
#pragma once

#include <cstddef>

#include "assay/aggregate/hull/problem.h"
#include "assay/core/context.h"

namespace assay {

// Replaces best by the simplest of all members and all points of the hull of at least the floor's l1 norm, if simpler.
void lower_by_enumeration(const HullProblem& problem, HullPoint& best, const Context& context);

// A local search for hulls with too many vertices. It starts from each member, and from the simplest vertex of each
// edge between two members (of these the `edges` simplest). It moves along lines of the arrangement to simpler
// vertices, as long as there are any. Replaces best where it finds a simpler point; best is then no more complex than
// any point of an edge.
void lower_by_descent(const HullProblem& problem, size_t edges, HullPoint& best, const Context& context);

}  // namespace assay

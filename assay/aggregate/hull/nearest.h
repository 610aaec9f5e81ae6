// The nearest point to a given one among those of at most a given entropy: a local search from several starts.
//
//   minimise |y - x|_2 over y with H(y) <= h.
// Signs and order cost nothing: swapping two sizes of y that are in the other order than those of x, or turning a sign
// to that of x, brings y no farther from x and leaves H. So x and y are sizes here, at least 0, x in descending order.
// H is scale-free, hence the best multiple of any y is the one with <y, x> = <y, y>. The set {H <= h} is not convex: it
// is a union of spikes around the axes, so a local minimum need not be the global one.
//
// Starts: the largest sizes of x alone, as many as are within h (zeroing the smallest of k sizes always lowers H); from
// there towards the largest j of x, j larger, as far as h allows (along such a segment H is quasi-concave, so what is
// within h on the way is one interval); powers y = x^gamma of the largest j, gamma > 1 where H = h (H falls in gamma);
// and given ones. Each of the best is then moved along the tangent of {H = h}, back onto it by a power, and scaled, as
// long as that brings it nearer.
// Cost: some thousand logarithms and powers for each size.
#pragma once

#include <span>
#include <vector>

namespace assay {

// x: sizes in descending order, the first above 0; h at least 0. start: sizes of entropy at
// most h, in descending order, as many as x has.
std::vector<double> nearest_simple(std::span<const double> x, double h, std::span<const double> start);

// y^gamma with the least gamma >= 1, up to rounding, whose entropy is at most h, in place; the largest stays. False
// when there is none: too many sizes share the maximum.
bool sharpen(std::span<double> y, double h);

// Less than the distance of any point of entropy h or less to x (sizes in descending order): such a point has a
// share of e^-h or more in one coordinate (H is at least the min-entropy), which is a half-space beyond x.
double distance_bound(std::span<const double> x, double h);

}  // namespace assay

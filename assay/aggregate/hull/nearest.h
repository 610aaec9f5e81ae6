// Among the points of entropy at most h, one that is near to a given point: a local search from several starts.
//
//   minimise |y - x|_2 over y with H(y) <= h.
// Giving y the signs of x, and its sizes the order of the sizes of x, brings y no farther from x and leaves H as it is.
// So x and y are sizes here: at least 0, and x in descending order. H is scale-free, hence the best multiple of any y
// is the one with <y, x> = <y, y>. The set {H <= h} is not convex: it is a union of spikes around the axes, so a local
// minimum need not be the global one.
//
// Starts:
// - the i largest sizes of x and 0 elsewhere, for i with H <= h (setting the smallest size to 0 always lowers H);
// - from there towards the j largest sizes of x, j > i, as far as H <= h (H is quasi-concave on such a segment);
// - powers y = x^gamma of the j largest sizes, gamma > 1 such that H = h (H falls as gamma rises);
// - the given start.
// The best of these are moved along the tangent of {H = h}, back onto it by a power, and scaled, as long as that brings
// them nearer.
// Cost: some thousand logarithms and powers for each size.
#pragma once

#include <span>
#include <vector>

namespace assay {

// x: sizes in descending order, the first above 0. h: at least 0. start: as many sizes, descending, of entropy at most
// h.
std::vector<double> nearest_simple(std::span<const double> x, double h, std::span<const double> start);

// Replaces y by y^gamma with the least gamma >= 1, up to rounding, for which the entropy is at most h; the largest size
// stays as it is. False when there is no such gamma: too many sizes equal the largest.
bool sharpen(std::span<double> y, double h);

// A lower bound of the distance from x (sizes in descending order) to any point of entropy at most h. In such a point
// one coordinate has a share of at least e^-h, because H is at least the min-entropy. That is a half-space; the bound
// is the distance of x from it.
double distance_bound(std::span<const double> x, double h);

}  // namespace assay

// The simplest point of the segment between two explanations, exactly.
//
// On the segment v(t) = (1 - t) a + t b let S(t) = sum |v_k(t)| and H(t) the entropy of |v(t)| / S(t). Between two
// consecutive breakpoints, the t where some coordinate changes its sign, all |v_k| are linear, the normalised point
// runs along a line of the simplex and H is quasi-concave (Bhatt, Weller, Moura 2020 minimise it numerically as if it
// were convex, which it is not). So the least H is at an end or at a breakpoint. Points with S(t) < floor are left out:
// near the origin entropy is that of rounding noise. S is convex, so these points are one open interval, and its two
// ends are candidates too.
//
// Not every breakpoint is looked at. Let F = S H, which is concave where no sign changes. For an interval [l, r] of t,
// let G be F without the coordinates that cross 0 inside the interval. G is at most F and concave on [l, r], and S is
// convex. Hence H >= min over l and r of G / S on the whole interval, and intervals that cannot hold the minimum are
// dropped.
//
// Cost: d logarithms for each candidate looked at: at most d + 4, usually a few dozen at d = 784.
// Deviation from the paper: the minimum is exact instead of numeric, and there is a floor. The floor is under the l1
// norm, which is linear between breakpoints, so that the minimum stays exact. It is a share of the members' l2 norm; as
// |v|_1 >= |v|_2, it admits all points that the same floor under the l2 norm would.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "assay/aggregate/complexity/sums.h"

namespace assay {

// Entropies closer than kTiedEntropy are tied: they differ by rounding. Then a point wins if it is longer by more than
// the share kLonger, about the rounding of float32.
inline constexpr double kTiedEntropy = 1e-12;
inline constexpr double kLonger = 1e-6;

struct SegmentPoint {
  double t = 0;
  double entropy = 0;
};

// Memory that calls use again.
struct SegmentScratch {
  std::vector<Crossing> crossings = {};
  std::vector<double> from = {};  // sizes at both ends of the coordinates that keep their sign and are not always 0
  std::vector<double> to = {};
  std::vector<double> point = {};
};

// The point of least entropy among the two ends and all t in (0, 1) where the l1 norm is at least floor, up to
// rounding. An end that is all zero is never the answer; at least one end must not be zero. Of points of equal entropy,
// an end wins, the first before the second; inside, the point of larger l1 norm. Points inside count only if their
// entropy is less than `below`. If there is none, the simpler end is returned, whatever its entropy.
SegmentPoint segment_minimum(std::span<const double> a, std::span<const double> b, double floor,
                             SegmentScratch& scratch, double below = std::numeric_limits<double>::infinity());

// The same for the inside of the segment alone; nothing if no point there has less entropy than `below`. If `below` is
// at most the entropy of both ends, no point of the whole segment is simpler than the result.
std::optional<SegmentPoint> segment_inside(std::span<const double> a, std::span<const double> b, double floor,
                                           double below, SegmentScratch& scratch);

// (1 - t) a + t b; coordinates that cross 0 at t, up to rounding, are exactly 0. At t = 0 and 1 the ends themselves.
void point_at(std::span<const double> a, std::span<const double> b, double t, std::span<double> out);

}  // namespace assay

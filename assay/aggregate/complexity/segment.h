// The simplest point of the segment between two explanations, exactly.
//
// On the segment v(t) = (1 - t) a + t b let S(t) = sum |v_k(t)| and H(t) the entropy of |v(t)| / S(t). Between two
// consecutive breakpoints, the t where some coordinate changes its sign, all |v_k| are linear, the normalised point
// runs along a line of the simplex and H is quasi-concave (Bhatt, Weller, Moura 2020 minimise it numerically as if it
// were convex, which it is not). So the least H is at an end or at a breakpoint. A floor keeps S(t) >= floor, where
// entropy is not that of rounding noise: S is convex, so the part below the floor is one open interval whose two ends
// become candidates too.
//
// Not every breakpoint is looked at. With F = S H, homogeneous and concave where no sign changes, and for an interval
// [l, r] of t, leave out the coordinates that cross 0 inside it; F of the others is at most F, concave on [l, r], and S
// is convex. Hence H >= min over l and r of (F of the others) / S on the whole interval, and intervals that cannot hold
// the minimum are dropped unseen.
//
// Cost: d logarithms for each candidate looked at: at most d + 4, usually a few dozen at d = 784.
// Deviation from the paper: exact instead of numeric; the floor, which it does not have, is one of the l1 norm, not the
// l2 norm, because the former is linear between breakpoints, so that exactness survives; it is a share of the members'
// l2 norm, and as |v|_1 >= |v|_2 it admits whatever the same floor under the l2 norm would.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "assay/aggregate/complexity/sums.h"

namespace assay {

// Entropies this close are tied: what tells them apart is rounding. Then the longer point counts, if by more than this
// share, which is what float32 rounds.
inline constexpr double kTiedEntropy = 1e-12;
inline constexpr double kLonger = 1e-6;

struct SegmentPoint {
  double t = 0;
  double entropy = 0;
};

// Room for one segment, to be used again for others.
struct SegmentScratch {
  std::vector<Crossing> crossings = {};
  std::vector<double> from = {};  // sizes at the ends of coordinates that change no sign and are not 0 at both
  std::vector<double> to = {};
  std::vector<double> point = {};
};

// The point of least entropy among the two ends and all t in (0, 1) where the l1 norm is at least floor, up to
// rounding. An end that is all zero is never the answer, so not both may be. Of equal entropy, an end is preferred, the
// first one before the second; inside, the point of larger l1 norm. `below`: points inside matter only if their entropy
// is less than this; without any, the simpler end is returned, whatever its entropy.
SegmentPoint segment_minimum(std::span<const double> a, std::span<const double> b, double floor,
                             SegmentScratch& scratch, double below = std::numeric_limits<double>::infinity());

// The same among breakpoints and ends of what lies above the floor alone: the point with less entropy than `below`,
// where there is one. With `below` at most the entropy of both ends nothing on the segment is simpler.
std::optional<SegmentPoint> segment_inside(std::span<const double> a, std::span<const double> b, double floor,
                                           double below, SegmentScratch& scratch);

// (1 - t) a + t b; coordinates that cross 0 at t, up to rounding, are exactly 0. At t = 0 and 1 the ends themselves.
void point_at(std::span<const double> a, std::span<const double> b, double t, std::span<double> out);

}  // namespace assay

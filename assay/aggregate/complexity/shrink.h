// The shrinking region: Algorithm 2 of Bhatt, Weller, Moura (2020) on one row.
//
// S holds the members that are not zero. Each round takes the simplest point of the segment between every two points of
// S (exactly, see segment.h), adds S itself, and the `keep` simplest distinct points of all of these are the next S.
// Every point is a convex combination of the members and carries its weights. Points that differ by rounding alone
// count once. Of points of equal entropy, up to rounding, the longest is kept first.
//
// Two shortcuts, neither of which changes the result: pairs that were together in an earlier S are skipped, and on a
// segment only points are sought that are simpler than its ends and than the `keep` points found so far.
// Cost: keep (keep - 1) / 2 segments a round at most, m (m - 1) / 2 in the first.
// Deviation from the paper: as printed, the next S is made of the pairs' minima alone (candidates = pairs). As a
// segment holds its ends, that does not lose the simplest point, but it loses others that could lead further: here the
// points of S stay. It ends early when a round finds nothing new, or when S is a single point.
#pragma once

#include <vector>

#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"
#include "assay/core/context.h"

namespace assay {

struct ShrunkPoint {
  double entropy = 0;
  double length = 0;  // l2 norm
  std::vector<double> values = {};
  std::vector<double> weights = {};  // over all members, 0 for those that are zero
};

// The last S, best first. floor: the least l1 norm of points that are not members. At least one member must not be
// zero.
std::vector<ShrunkPoint> shrink_region(const MemberRow& row, const ShrinkOptions& options, double floor,
                                       const Context& context);

}  // namespace assay

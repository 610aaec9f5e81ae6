// Region shrinking (Bhatt, Weller, Moura 2020, Algorithm 2): a simpler explanation in the convex hull of the members.
//
// S holds the members at first. Each round takes the simplest point of the segment between every two points of S, and
// keeps the simplest of these and of S; the simplest point of the last S is the result (complexity/shrink.h). The
// minimum on a segment is exact: entropy is quasi-concave between places where a coordinate changes its sign, so only
// these and the ends are candidates (complexity/segment.h).
//
// On every row complexity(result) <= complexity(member) for each member of unit norm that is not zero, both in float32,
// exactly: where rounding would break that, the simplest member itself is the result (scale=output then rounds once
// more). The result is a convex combination of the members, with its weights; coordinates that cancel are exactly 0. In
// general it is not the simplest point of the hull: only segments are searched. Of points of equal entropy the longest
// that was found is the result. Zero members take no part; a row of zero members alone is zero, with weights 0.
// Cost: keep^2 / 2 segments a round at most; a few milliseconds a row for m = 6, d = 784.
//
// Deviations from the paper: minima are exact; it uses numeric convex optimisation, but entropy is not convex. S stays
// among the candidates unless candidates=pairs, which is the paper's printed form. Points that are no members have a
// floor under their l1 norm (complexity/segment.h).
#include <algorithm>
#include <limits>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"
#include "assay/aggregate/complexity/shrink.h"
#include "assay/aggregate/complexity/store.h"

namespace assay {
namespace {

struct RegionShrinkingOptions {
  ShrinkOptions shrink = {};
  FloorOption floor = {};
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    shrink.describe(visit);
    floor.describe(visit);
    scale.describe(visit);
  }
};

void combine_by_shrinking(const AggregateTask& /*task*/, const RegionShrinkingOptions& options, const Members& members,
                          Combined& out, const Context& context) {
  out.weights = Matrix(members.rows(), members.size());
  for (size_t r = 0; r < members.rows(); r++) {
    if (!members.finite(r)) std::ranges::fill(out.weights.row(r), std::numeric_limits<float>::quiet_NaN());
  }
  each_simplest_row(members, out, context, "shrinking regions", [&](const MemberRow& row) {
    const double floor = norm_floor(row, options.floor.floor);
    const std::vector<ShrunkPoint> found = shrink_region(row, options.shrink, floor, context);
    const StoredSimplest stored = store_simplest(row, found.front().values, out.values.row(row.row));
    const auto weights = out.weights.row(row.row);
    store_row(found.front().weights, weights);
    if (stored.member) {
      std::ranges::fill(weights, 0.0F);
      weights[*stored.member] = 1;
    }
    return stored;
  });
}

}  // namespace

AggregatorInfo region_shrinking_aggregator() {
  return with_aggregator_options<CombinedBy<combine_by_shrinking>>(
      {.name = "region_shrinking",
       .title = "Simplest points of the segments between members, again and again, in their convex hull",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling",
       .cost = "keep^2 / 2 segments a round"});
}

}  // namespace assay

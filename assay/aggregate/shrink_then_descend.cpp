// Region shrinking, then walks (Bhatt, Weller, Moura 2020, appendix): a simpler explanation by both of the paper's
// algorithms, one after the other.
//
// The appendix describes it only in words: Algorithm 2 shrinks the region to a set S of points of low complexity, then
// Algorithm 1 moves around the points of S. Here: shrink the region (complexity/shrink.h), then walk
// (complexity/walk.h) from each point of the last S towards the mean of the members, and from the mean towards each of
// these points. The simplest point that any walk reaches is the result. As walks start from all points of S and never
// raise entropy, it is no more complex than the result of region shrinking with the same options. It may be simpler or
// more complex than the result of walks alone.
//
// On every row complexity(result) <= complexity(member) for each member of unit norm that is not zero, both in float32,
// exactly: where rounding would break that, the simplest member itself is the result (scale=output then rounds once
// more). Moves of single coordinates leave the convex hull of the members, so there are no member weights. Zero members
// take no part; a row of zero members alone is zero.
// Cost: that of region shrinking and 2 keep walks.
//
// Deviation from the paper: those of region_shrinking and gradient_descent_style, and the reading above.
#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"
#include "assay/aggregate/complexity/shrink.h"
#include "assay/aggregate/complexity/store.h"
#include "assay/aggregate/complexity/walk.h"

namespace assay {
namespace {

struct ShrinkThenDescendOptions {
  ShrinkOptions shrink = {};
  WalkOptions walk = {};
  FloorOption floor = {};
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    shrink.describe(visit);
    walk.describe(visit);
    floor.describe(visit);
    scale.describe(visit);
  }
};

void combine_shrunk(const AggregateTask& /*task*/, const ShrinkThenDescendOptions& options, const Members& members,
                    Combined& out, const Context& context) {
  each_simplest_row(members, out, context, "shrinking regions and walking", [&](const MemberRow& row) {
    const double floor = norm_floor(row, options.floor.floor);
    MeanWalks walks(row, floor, options.walk, context);
    for (const ShrunkPoint& point : shrink_region(row, options.shrink, floor, context)) {
      walks.both_ways(point.values);
    }
    return store_simplest(row, walks.simplest().values, out.values.row(row.row));
  });
}

}  // namespace

AggregatorInfo shrink_then_descend_aggregator() {
  return with_aggregator_options<CombinedBy<combine_shrunk>>(
      {.name = "shrink_then_descend",
       .title = "Region shrinking, then walks between its points and the mean of the members",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling",
       .cost = "that of region shrinking and 2 keep walks"});
}

}  // namespace assay

// Gradient-descent style aggregation (Bhatt, Weller, Moura 2020, Algorithm 1): a simpler explanation by walks between
// the members and their mean.
//
// 2m walks: from each member towards the mean of the members, and from the mean towards each member, coordinate by
// coordinate as long as entropy falls (complexity/walk.h). The simplest point that any walk reaches is the result.
// With S = sum |v_k| and T = sum |v_k| ln |v_k|, entropy H = ln S - T / S, so that trying a move costs O(1).
//
// On every row complexity(result) <= complexity(member) for each member of unit norm that is not zero, both in float32,
// exactly: where rounding would break that, the simplest member itself is the result (scale=output then rounds once
// more). Moves of single coordinates leave the convex hull of the members, so there are no member weights. Zero members
// take no part; a row of zero members alone is zero.
// Cost: 2m walks of a few passes over d coordinates: below half a millisecond for m = 6, d = 784.
//
// Deviations from the paper: its printed step along +dE/dt would raise entropy; here, as in its text, steps go towards
// the target while entropy falls. There are 2m walks, not 2d. By default steps are exact: they jump to 0 or to the
// target. Fixed steps stop there instead of overshooting, and all have one length; step=derivative is the paper's, in
// proportion to a derivative that is infinite at 0. Points that are no members have a floor under their l1 norm
// (complexity/segment.h).
#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"
#include "assay/aggregate/complexity/store.h"
#include "assay/aggregate/complexity/walk.h"

namespace assay {
namespace {

struct GradientDescentStyleOptions {
  WalkOptions walk = {};
  FloorOption floor = {};
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    walk.describe(visit);
    floor.describe(visit);
    scale.describe(visit);
  }
};

void combine_by_walks(const AggregateTask& /*task*/, const GradientDescentStyleOptions& options, const Members& members,
                      Combined& out, const Context& context) {
  each_simplest_row(members, out, context, "walking to simpler explanations", [&](const MemberRow& row) {
    MeanWalks walks(row, norm_floor(row, options.floor.floor), options.walk, context);
    for (const size_t j : row.nonzero) walks.both_ways(row.values.row(j));
    return store_simplest(row, walks.simplest().values, out.values.row(row.row));
  });
}

}  // namespace

AggregatorInfo gradient_descent_style_aggregator() {
  return with_aggregator_options<CombinedBy<combine_by_walks>>(
      {.name = "gradient_descent_style",
       .title = "Walks between the members and their mean, coordinate by coordinate, while entropy falls",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling",
       .cost = "2m walks of a few passes over the players"});
}

}  // namespace assay

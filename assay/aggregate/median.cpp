// Median of the members, feature by feature: the centroid for l1 and p = 1 (Bhatt, Weller, Moura 2020, Proposition 3).
//
// Of an even number of members it is the midpoint of the two middle values; all values between these have the same
// loss. Of three or more members, one that is far off moves a value no farther than to the next member's value.
// Measures: "loss", the sum of l1 distances to the members, and "bound", the same. No weights: the median need not lie
// in the members' convex hull.
//
// Zero members count, as members whose values are all 0.
// Cost: a sort of the members for each player.
// Deviation from the paper: none; it does not say which median of an even number.
#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/centroids/combine_centroids.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

void combine_median(const AggregateTask& /*task*/, const ScaleAlone& /*options*/, const Members& members, Combined& out,
                    const Context& context) {
  combine_centroids({.distance = "l1", .p = 1}, members, out, context);
}

}  // namespace

AggregatorInfo median_aggregator() {
  return with_aggregator_options<CombinedBy<combine_median>>(
      {.name = "median",
       .title = "Median of the members, feature by feature",
       .family = "centroid",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no point has a smaller sum of l1 distances to the members",
       .cost = "members log members x players"});
}

}  // namespace assay

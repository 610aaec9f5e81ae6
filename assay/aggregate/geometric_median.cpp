// Geometric median of the members (Weber 1909): argmin over g of sum over i of |g - g_i|_2, the centroid for l2 and
// p = 1.
//
// Two cases are exact. If a member is the optimum, it is found (centroids/exact_median.h). If members lie on a line, it
// is the median; of an even number, the midpoint of the two middle ones, so of two members the mean. Otherwise Newton's
// method runs to a relative gap of 1e-9 between the measures "loss" and "bound"; no point has a loss below "bound"
// (centroids/centroid_of.h). The result has weights of the members.
//
// It moves little as long as fewer than half of the members are far off. Unlike the median of each feature, it does not
// depend on the choice of axes. Zero members count, as members at the origin.
// Cost: members^2 x players, then some tens of steps of members^3.
// Deviation from the paper: none; it names the mean and the median alone, this one follows from its definition.
#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/centroids/combine_centroids.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

void combine_geometric_median(const AggregateTask& /*task*/, const ScaleAlone& /*options*/, const Members& members,
                              Combined& out, const Context& context) {
  combine_centroids({.distance = "l2", .p = 1}, members, out, context);
}

}  // namespace

AggregatorInfo geometric_median_aggregator() {
  return with_aggregator_options<CombinedBy<combine_geometric_median>>(
      {.name = "geometric_median",
       .title = "Point of the smallest sum of l2 distances to the members",
       .family = "centroid",
       .citation = "Weber (1909); Vardi, Zhang (2000)",
       .guarantee =
           "no point has a sum of l2 distances to the members below the bound, which is within 1e-9 of its own",
       .cost = "members^2 x players, then some tens of small steps"});
}

}  // namespace assay

#include "assay/aggregate/geometric_median.h"

#include "assay/aggregate/centroids/combine_centroids.h"

namespace assay {

void GeometricMedian::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                              const Context& context) const {
  combine_centroids({.distance = "l2", .p = 1}, members, out, context);
}

AggregatorInfo geometric_median_aggregator() {
  return with_aggregator_options<GeometricMedian>(
      {.name = "geometric_median",
       .title = "Point of the smallest sum of l2 distances to the members",
       .family = "centroid",
       .citation = "Weber (1909); Vardi, Zhang (2000)",
       .guarantee =
           "no point has a sum of l2 distances to the members below the bound, which is within 1e-9 of its own",
       .cost = "members^2 x players, then some tens of small steps"});
}

}  // namespace assay

#include "assay/aggregate/mean.h"

#include "assay/aggregate/centroids/combine_centroids.h"

namespace assay {

void MeanAggregator::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                             const Context& context) const {
  combine_centroids({.distance = "l2", .p = 2}, members, out, context);
}

AggregatorInfo mean_aggregator() {
  return with_aggregator_options<MeanAggregator>(
      {.name = "mean",
       .title = "Mean of the members",
       .family = "centroid",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "its distance from any point is at most the mean distance of the members",
       .cost = "members x players"});
}

}  // namespace assay

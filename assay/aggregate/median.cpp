#include "assay/aggregate/median.h"

#include "assay/aggregate/centroids/combine_centroids.h"

namespace assay {

void MedianAggregator::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                               const Context& context) const {
  combine_centroids({.distance = "l1", .p = 1}, members, out, context);
}

AggregatorInfo median_aggregator() {
  return with_aggregator_options<MedianAggregator>(
      {.name = "median",
       .title = "Median of the members, feature by feature",
       .family = "centroid",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no point has a smaller sum of l1 distances to the members",
       .cost = "members log members x players"});
}

}  // namespace assay

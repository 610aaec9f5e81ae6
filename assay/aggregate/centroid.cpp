#include "assay/aggregate/centroid.h"

namespace assay {

void CentroidAggregator::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                                 const Context& context) const {
  combine_centroids(options_.loss, members, out, context);
}

AggregatorInfo centroid_aggregator() {
  return with_aggregator_options<CentroidAggregator>(
      {.name = "centroid",
       .title = "The point closest to all members together, by a distance and a power of it",
       .family = "centroid",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee =
           "no point has a loss below the bound, which is within 1e-9 of the loss unless a note says otherwise",
       .cost = "members^2 x players, then some tens of small steps"});
}

}  // namespace assay

// Mean of the members (Bhatt, Weller, Moura 2020): (1/m) sum over i of g_i, the centroid for l2 and p = 2
// (their Proposition 2), with weights 1/m.
//
// On every row, for whatever explanation g* is the right one, |g* - mean| <= (1/m) sum over i of |g* - g_i|
// (Proposition 4): its error is at most the members' mean error. Measures: "loss", the sum of squared l2 distances to
// the members, and "bound", the same.
//
// Zero members count: the mean is over all m. Members that cancel leave a short vector: see the norm of a result.
// Cost: members x players.
// Deviation from the paper: none.
#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/centroids/combine_centroids.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

void combine_mean(const AggregateTask& /*task*/, const ScaleAlone& /*options*/, const Members& members, Combined& out,
                  const Context& context) {
  combine_centroids({.distance = "l2", .p = 2}, members, out, context);
}

}  // namespace

AggregatorInfo mean_aggregator() {
  return with_aggregator_options<CombinedBy<combine_mean>>(
      {.name = "mean",
       .title = "Mean of the members",
       .family = "centroid",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "its distance from any point is at most the mean distance of the members",
       .cost = "members x players"});
}

}  // namespace assay

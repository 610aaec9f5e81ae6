// Centroid (Bhatt, Weller, Moura 2020, "Centroid Aggregation"): the point that is closest to all members together,
//   argmin over g of sum over i of D(g, g_i)^p,   D = l2 or l1, p >= 1.
// l2, p = 2 is the mean of the members (their Proposition 2); l1, p = 1 the median of each feature (Proposition 3); l2,
// p = 1 the geometric median. All others are convex too, and are solved by Newton's method to a certified gap
// (centroids/centroid_of.h says how a lower bound comes about).
//
// Measures: "loss" is that of the result, in float64 before it is rounded to float32; no point has a smaller loss than
// "bound". They differ by at most 1e-9 of the loss; a note counts the rows where they differ by more (rarely, for l1
// with p above 10). The minimum is unique for l2 with p > 1, and with p = 1 unless members lie on a line. Where it is
// not, the result is the mean if that is a minimum, else any minimum.
//
// l2 centroids lie in the convex hull of the members, and have weights there. l1 centroids need not, and have none.
// Zero members count as members at the origin. Members that are all zero give zero.
// Cost: l2 members^2 x players and some steps of members^3; l1 some tens of steps of members^2 x players.
// Deviation from the paper: p is at least 1, not just positive: below 1 the loss is not convex. The paper only gives
// the mean and the median.
#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/centroids/combine_centroids.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

struct CentroidOptions {
  CentroidLoss loss = {};
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    loss.describe(visit);
    scale.describe(visit);
  }
};

void combine_centroid(const AggregateTask& /*task*/, const CentroidOptions& options, const Members& members,
                      Combined& out, const Context& context) {
  combine_centroids(options.loss, members, out, context);
}

}  // namespace

AggregatorInfo centroid_aggregator() {
  return with_aggregator_options<CombinedBy<combine_centroid>>(
      {.name = "centroid",
       .title = "The point closest to all members together, by a distance and a power of it",
       .family = "centroid",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee =
           "no point has a loss below the bound, which is within 1e-9 of the loss unless a note says otherwise",
       .cost = "members^2 x players, then some tens of small steps"});
}

}  // namespace assay

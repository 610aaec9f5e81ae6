// Geometric median of the members (Weber 1909): argmin over g of sum over i of |g - g_i|_2, the centroid for l2 and
// p = 1.
//
// Where a member is the optimum (the unit vectors from it to the others sum to no more than 1 in norm, or to no more
// than the number of members equal to it: Vardi, Zhang, PNAS 2000), it is found exactly. On a line it is the median,
// the midpoint of the two middle members of an even number: so of two members it is their mean. Otherwise by Newton's
// method in the coordinates of the hull to a relative gap of 1e-9 between the measures "loss" and "bound", the second
// of which no point can be below (centroids/centroid_of.h). It has weights, of the members.
//
// It moves little as long as fewer than half of the members are far off, and turns with the coordinates, which the
// median of each feature does not. Zero members count, as members at the origin.
// Cost: members^2 x players, then some tens of steps of members^3.
// Deviation from the paper: none; it names the mean and the median alone, this one follows from its definition.
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/centroids/combine_centroids.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

class GeometricMedian final : public Aggregator {
 public:
  struct Options {
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) { scale.describe(visit); }
  };

  explicit GeometricMedian(Options options) : options_(std::move(options)) {}
  bool scales_to_output() const override { return options_.scale.to_output(); }

  void combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
               const Context& context) const override {
    combine_centroids({.distance = "l2", .p = 1}, members, out, context);
  }

 private:
  Options options_;
};

}  // namespace

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

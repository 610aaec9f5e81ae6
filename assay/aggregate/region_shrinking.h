// Region shrinking (Bhatt, Weller, Moura 2020, Algorithm 2): a simpler explanation in the convex hull of the members.
//
// S holds the members at first. Each round takes the simplest point of the segment between every two points of S, and
// keeps the simplest of these and of S; the simplest point of the last S is the result (complexity/shrink.h). The
// minimum on a segment is exact: entropy is quasi-concave between places where a coordinate changes its sign, so only
// these and the ends are candidates (complexity/segment.h).
//
// On every row complexity(result) <= complexity(member) for each member of unit norm that is not zero, both in float32,
// exactly: where rounding would break that, the simplest member itself is the result (scale=output then rounds once
// more). The result is a convex combination of the members, with its weights; coordinates that cancel are exactly 0. It
// is not the least complex point of the hull in general: pairs see segments alone. Of points of equal entropy the
// longest that was found is the result. Zero members take no part; a row of zero members alone is zero, with weights 0.
// Cost: keep^2 / 2 segments a round at most; a few milliseconds a row for m = 6, d = 784.
//
// Deviation from the paper: exact minima by breakpoints, where it takes a numeric convex optimisation of what is not
// convex; S itself stays among the candidates, or the best point could be lost; a floor under the l1 norm of points
// that are no members (complexity/segment.h says why l1).
#pragma once

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"

namespace assay {

class RegionShrinking final : public Aggregator {
 public:
  struct Options {
    ShrinkOptions shrink = {};
    FloorOption floor = {};
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) {
      shrink.describe(visit);
      floor.describe(visit);
      scale.describe(visit);
    }
  };

  explicit RegionShrinking(Options options) : options_(std::move(options)) {}
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo region_shrinking_aggregator();

}  // namespace assay

// The simplest explanation in the convex hull of the members, certified where that is affordable.
//
//   minimise H(phi) over phi = sum over i of lambda_i g_i,  lambda >= 0 summing to 1,  |phi|_1 >= floor,
// H the entropy of |phi| / |phi|_1 (Bhatt, Weller, Moura 2020, Definition 3), g_i the members of unit l2 norm that are
// not zero, floor a share of their mean l2 norm (which is 1). Members are always admitted, even below the floor. Of
// points of equal entropy, up to rounding, the longest that was looked at is the result: enumeration looks at all of
// them.
//
// H is quasi-concave on every cell of the arrangement of {lambda_i = 0} and {phi_k = 0}, so the minimum is at one of
// its vertices, or where one of its lines meets the floor: hull/enumerate.h looks at all of them when C(m + d, m - 1)
// is at most `vertices`. Otherwise a descent along the lines (hull/enumerate.h), then branch and bound (hull/bound.h)
// with an effort of the same order give the simplest point met and a proven lower bound, which may close the gap as
// well.
//
// Guarantee: complexity(result) <= complexity(member) for every member of unit norm that is not zero, both in float32,
// the result as stored before scale=output, which rounds once more. "bound" is at most the entropy of every point of
// the hull above the floor, in float64, and "certified" is 1 where it is reached there: the result is the minimum,
// rounded. Cost: for m members and d players up to C(m + d, m - 2) lines of O(d log d) each; no model evaluation.
// Deviation from the paper: it has no global minimum, only the heuristic of its Algorithm 2. The floor, which it does
// not have either, is one of the l1 norm, not the l2 norm: the former is linear within a cell, so that exactness
// survives, and never smaller, so that nothing is kept out that the same floor under the l2 norm would admit.
#pragma once

#include <cstdint>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"

namespace assay {

class MinimumComplexity final : public Aggregator {
 public:
  struct Options {
    FloorOption floor = {};
    int64_t vertices = 2'000'000;
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) {
      floor.describe(visit);
      visit.integer("vertices", vertices, "vertices of a row's arrangement up to which all are looked at", "", 1,
                    1'000'000'000'000);
      scale.describe(visit);
    }
  };

  explicit MinimumComplexity(const Options& options) : options_(options) {}
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo minimum_complexity_aggregator();

}  // namespace assay

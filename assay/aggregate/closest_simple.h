// Near the mean, yet no more complex than the simplest member: what the paper wishes for.
//
//   minimise |phi - mean|_2 over phi with H(phi) <= h,   h = min over members that are not zero of H(g_j),
// H the entropy of |phi| / |phi|_1 (Bhatt, Weller, Moura 2020, Definition 3). The mean is that of all members, of unit
// l2 norm each. Where H(mean) <= h the mean itself is the answer. phi need not lie in the members' convex hull, so
// there are no weights.
//
// The problem is not convex; hull/nearest.h solves it by a local search from several starts: a heuristic with two
// guarantees that hold on every row, of members of unit norm in float32 and of the result as stored before
// scale=output, which rounds once more:
//   complexity(result) <= complexity(member) for every member that is not zero;
//   |result - mean| <= |simplest member - mean|, the nearest of them where several are the simplest.
// Where rounding to float32 would break one of them, that member is the result; also where the mean is zero (below 1e-6
// of a member's norm): H is scale-free, so ever smaller points would be ever nearer.
//
// Cost: some thousand logarithms and powers for each player; no model evaluation.
// Deviation from the paper: it states the wish, without an algorithm.
#pragma once

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"

namespace assay {

class ClosestSimple final : public Aggregator {
 public:
  struct Options {
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) { scale.describe(visit); }
  };

  explicit ClosestSimple(const Options& options) : options_(options) {}
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo closest_simple_aggregator();

}  // namespace assay

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
#pragma once

#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"

namespace assay {

class MeanAggregator final : public Aggregator {
 public:
  struct Options {
    ScaleOptions scale = {};

    void describe(OptionVisitor& visit) { scale.describe(visit); }
  };

  explicit MeanAggregator(Options options) : options_(std::move(options)) {}
  bool scales_to_output() const override { return options_.scale.to_output(); }
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo mean_aggregator();

}  // namespace assay

// Borda's count: each member gives each player as many points as its place is worth, and points are averaged
// (de Borda 1781).
//
//   score_i = mean over members of (d + 1 - r_i) / d
//
// where r_i is the player's rank with that member, 1 for the largest |phi|, tied players sharing the mean of their
// ranks. So scores are from 1/d to 1. A row whose members are all zero ranks nobody: its values are 0.
//
// Cost: a sort for each member. Assumes nothing of the members' scales; only the order within each counts.
// Deviation from the paper: it has no aggregate of ranks but Kemeny-Young's. This one is beside it because it is cheap,
// and its order costs at most five times Kemeny-Young's least (Coppersmith, Fleischer, Rudra 2010).
#pragma once

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/ranks/votes.h"

namespace assay {

class Borda final : public Aggregator {
 public:
  using Options = RankOptions;

  explicit Borda(const Options& options) : options_(options) {}
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo borda_aggregator();

}  // namespace assay

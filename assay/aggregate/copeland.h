// Copeland's method: players score by how many others they beat (Copeland 1951).
//
//   score_i = (1 + wins + ties / 2) / d
//
// Player i beats j where more members rank i before j than j before i, by |phi|; a member that ties the two counts half
// for each. So scores are from 1/d to 1, and a player that beats all others has 1 and nobody else has. A row whose
// members are all zero ranks nobody: its values are 0.
//
// Cost: d^2 / 2 comparisons for each member. Assumes nothing of the members' scales; only the order within each counts.
// Deviation from the paper: it has no aggregate of ranks but Kemeny-Young's. This one is beside it because it is cheap
// and, as that does, puts a player that beats all others first.
#pragma once

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/ranks/votes.h"

namespace assay {

class Copeland final : public Aggregator {
 public:
  using Options = RankOptions;

  explicit Copeland(const Options& options) : options_(options) {}
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo copeland_aggregator();

}  // namespace assay

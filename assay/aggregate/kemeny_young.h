// Kemeny-Young: the order of the players that disagrees least with the members' (Kemeny 1959; Young, Levenglick 1978).
//
//   cost(order) = sum over members and pairs of players of 1 where the two order the pair differently, 1/2 where the
//                 member ties it
//
// Members rank by |phi|, the largest first (by=value: by phi). The least cost is what Kendall's tau summed over members
// is largest for: the centroid of rankings under that distance. Half a point for a tie is paid whichever way the pair
// goes. Values are scores (d + 1 - rank) / d, or the ranks themselves. A row whose members are all zero ranks nobody:
// its values are 0.
//
// Finding it is NP-hard, so it is taken apart first. Players that every member ties count as one of more weight: put
// next to each other they cost no more than apart. Strongly connected components of "most members rank i before j" come
// one after the other (ranks/tournament.h). What is left is mostly small, and goes, up to 20 players, to dynamic
// programming over subsets; above that to CBC where its plugin is there (ranks/cbc.h, from solver=auto up to 300
// players); else the best order that a local search finds stays. The measure "cost" is the result's, and no order costs
// less than the measure "bound": where they are equal the row is certified optimal, and a note counts the others.
//
// An optimum need not be the only one. Of components without an order the one with the lowest player comes first, and
// players that every member ties keep the order of their numbers.
// Cost: m d^2 comparisons, then little for most rows; 50 ms for a component of 20 players, time_limit for a hard one of
// more, some 100 ms of search for 784 players. Memory: 8 d^2 bytes and at most 8 MB for subsets, for each thread.
// A row's result depends on its own members, the options and the seed alone, not on its place among the rows, unless
// CBC runs out of time: then on the machine too.
// Deviation from the paper: it ranks by value; we rank by magnitude unless told.
#pragma once

#include <optional>
#include <string>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/ranks/votes.h"

namespace assay {

class KemenyYoung final : public Aggregator {
 public:
  struct Options {
    RankOptions ranks = {};
    std::string solver = "auto";
    double time_limit = 10;

    void describe(OptionVisitor& visit) {
      ranks.describe(visit);
      visit.choice("solver", solver,
                   "how players are ordered: the best way that there is, subsets (dp), CBC, or local search alone",
                   {"auto", "dp", "cbc", "search"});
      visit.real("time_limit", time_limit, "how long CBC may take for a row", "seconds", 0, 1e6);
    }
  };

  explicit KemenyYoung(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const AggregateTask& task) const override;
  void combine(const AggregateTask& task, const Members& members, Combined& out, const Context& context) const override;

 private:
  Options options_;
};

AggregatorInfo kemeny_young_aggregator();

}  // namespace assay

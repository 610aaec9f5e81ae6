// Explanations as votes: each member ranks the players, the one with the largest attribution first.
//
// Ranks come from the attributions as given, not from those of unit norm: scaling may round two different numbers to
// the same one. Equal attributions are tied, so a member that is all zero ties all players.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/options.h"

namespace assay {

// The options of every aggregator of ranks.
struct RankOptions {
  std::string by = "magnitude";
  std::string result = "scores";

  void describe(OptionVisitor& visit) {
    visit.choice("by", by, "what ranks a player first: the largest attribution without or with its sign",
                 {"magnitude", "value"});
    visit.choice("result", result, "values in (0, 1], large for the first, or ranks, 1 for the first",
                 {"scores", "ranks"});
  }
  bool signed_values() const { return by == "value"; }
  bool as_ranks() const { return result == "ranks"; }
};

// All members' votes on one row.
class Votes {
 public:
  Votes(const AggregateTask& task, size_t row, bool signed_values);

  size_t members() const { return members_; }
  size_t players() const { return players_; }
  // The number of members that rank i before j, minus the number that rank j before i.
  int64_t margin(size_t i, size_t j) const {
    const float* a = &liking_[i * members_];
    const float* b = &liking_[j * members_];
    int64_t sum = 0;
    for (size_t v = 0; v < members_; v++) sum += (a[v] > b[v] ? 1 : 0) - (a[v] < b[v] ? 1 : 0);
    return sum;
  }
  // By member: the number that ranks this player; larger numbers rank first.
  std::span<const float> of(size_t player) const { return {&liking_[player * members_], members_}; }

 private:
  size_t members_;
  size_t players_;
  std::vector<float> liking_;  // players x members
};

// Writes rank 1 for the player with the most points, and so on; of equal points the lowest index first.
void store_ranks(std::span<const int64_t> points, std::span<float> out);

}  // namespace assay

// A list of subsets of players, of one size or as the caller lists them: the coalitions that stay when a subset is
// removed, and sums of attributions over each subset.
//
// All subsets of a size if there are few enough, else distinct random ones. All rows share them.
// Sums, in float64, run over the players of each subset, or use tables with the sums of all subsets of eight players,
// whichever takes fewer additions. For example, the 3432 subsets of 7 of 14 players take two look-ups each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/explain/games/coalitions.h"

namespace assay {

// Half of the players, rounded up: the size of subsets where nobody says another.
inline size_t half_of(size_t players) { return players - players / 2; }

// C(players, size), rounded to float64; infinite if it is too large for that.
double subset_count(size_t players, size_t size);

class SubsetDesign {
 public:
  size_t players() const { return kept_.players(); }
  size_t size() const { return kept_.size(); }  // how many subsets
  // For each subset S, all players but S: the coalitions that the game is asked for.
  const Coalitions& kept() const { return kept_; }
  // How many subsets there are to draw from; infinite for a list of the caller.
  double population() const { return population_; }
  bool whole() const { return static_cast<double>(size()) >= population_; }
  size_t largest() const { return largest_; }  // players of the largest subset

  // sums[s] = sum of values over the players of subset s; values holds one for each player. `tables` is scratch.
  void sum(std::span<const float> values, std::span<double> sums, std::vector<double>& tables) const;

  // "all 364 subsets of 3 of 14 players", "1000 random subsets of 196 of 784 players".
  std::string description() const;

 private:
  friend SubsetDesign make_subsets(size_t players, size_t size, size_t budget, size_t samples, std::string_view purpose,
                                   const Context& context);
  friend SubsetDesign listed_subsets(size_t players, std::span<const std::vector<uint32_t>> subsets);
  explicit SubsetDesign(size_t players) : kept_(players) {}
  void add(std::span<const uint32_t> subset);
  void finish();

  Coalitions kept_;
  double population_ = 0;
  size_t largest_ = 0;
  std::vector<uint32_t> members_;  // players of all subsets, one after another; empty where tables are used
  std::vector<size_t> begins_;     // where each subset begins in members_, and the end
  std::vector<uint8_t> bytes_;     // for each eight players, by subset: which of them it has
};

// All subsets of `size` of the players if there are at most `budget` or at most `samples` of them; else `samples`
// distinct ones, drawn uniformly. 1 <= size <= players, samples >= 1.
SubsetDesign make_subsets(size_t players, size_t size, size_t budget, size_t samples, std::string_view purpose,
                          const Context& context);
// These subsets, in this order. A player that does not exist, or is twice in a subset, is an input error.
SubsetDesign listed_subsets(size_t players, std::span<const std::vector<uint32_t>> subsets);

}  // namespace assay

// Exact Shapley values from the values of all 2^d coalitions, which come part by part and are not kept.
//
// With w[s] = 1 / (d C(d-1, s)), the weight of a coalition of s others that player i joins,
//
//   phi_i = sum_{S without i} w[|S|] (v(S + i) - v(S))
//         = sum_{T with i} (w[|T|-1] + w[|T|]) v(T)  -  sum_S w[|S|] v(S).
//
// The second sum is the same for all players, so it follows from the sum of all values, v(N) - v(empty), and is never
// formed. The first sums are taken by halves: coalitions are numbers, their lowest six bits a column and the others a
// row, and sums over columns and rows are folded once for each bit. v(empty) is subtracted first, so that a large
// constant does not eat the digits. All in float64.
//
// Cost: one multiplication and two additions for each coalition. Memory: one part, at most 2^14 values.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/explain/explainer.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/game.h"

namespace assay {

inline constexpr size_t kMostExactPlayers = 24;

class ShapleyFold {
 public:
  // What is known of one row and reference row so far.
  struct Sums {
    std::array<double, kMostExactPlayers> with = {};  // for each player, sum over coalitions T that hold it
    double empty = 0;                                 // v(empty)
    double full = 0;                                  // v(N) - v(empty)
  };

  // 1 to kMostExactPlayers players.
  explicit ShapleyFold(size_t players);

  // All coalitions once, in parts.
  std::span<const Coalitions> design() const { return design_; }
  // Parts in order. The first starts afresh.
  void add(Sums& sums, size_t part, std::span<const float> values) const;
  // After the last part.
  void shapley_values(const Sums& sums, std::span<double> values) const;

 private:
  size_t players_;
  size_t columns_;               // 2^6, or 2^d when that is less
  std::vector<double> weights_;  // for s = 0 .. d, of each column joined to s others: w[|T|-1] + w[|T|]
  std::vector<Coalitions> design_;
};

// Exact values of these rows of the game, which has at most kMostExactPlayers players: fills values, background errors
// (which the caller has sized when the game has several reference rows) and evaluations.
void play_all_coalitions(const Game& game, std::span<const size_t> rows, Attributions& out, const Context& context);

}  // namespace assay

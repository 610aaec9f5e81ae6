// Exact Shapley values from the values of all 2^d coalitions, which come part by part and are not kept.
//
// With w[s] = 1 / (d C(d-1, s)), the weight of a coalition of s others that player i joins,
//
//   phi_i = sum_{S without i} w[|S|] (v(S + i) - v(S))
//         = sum_{T with i} (w[|T|-1] + w[|T|]) v(T)  -  sum_S w[|S|] v(S).
//
// The second sum is the same for all players. It follows from the fact that all phi_i sum to v(N) - v(empty), so it is
// never computed. For the first sums, coalitions are numbers: the lowest six bits are a column, the others a row. Sums
// over columns and rows are folded in half once for each bit. v(empty) is subtracted first, so that a large constant
// costs no digits. All in float64.
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
  // Adds a part of the design; parts come in order. The first part resets the sums.
  void add(Sums& sums, size_t part, std::span<const float> values) const;
  // After the last part.
  void shapley_values(const Sums& sums, std::span<double> values) const;

 private:
  size_t players_;
  size_t columns_;               // 2^6, or 2^d when that is less
  std::vector<double> weights_;  // for s = 0 .. d others and each column: w[|T|-1] + w[|T|], T the column and s others
  std::vector<Coalitions> design_;
};

// Exact values of these rows of the game, which has at most kMostExactPlayers players. Fills values, evaluations and,
// with several reference rows, background_error, which the caller has sized.
void play_all_coalitions(const Game& game, std::span<const size_t> rows, Attributions& out, const Context& context);

}  // namespace assay

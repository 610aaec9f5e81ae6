// A row's own fit beside those that all rows share: the process of games/interaction_regression.h with a few triples of
// players whose interaction may be large.
//
// The shared processes take all interactions of one order for equally likely to be large. In many games a few triples
// are far larger than all others, and a process that spreads them over all triples needs about as many pairs as there
// are triples. Here a row's left sides are y = Z c + a game of the process, with a column x_i x_j x_k of Z for each of
// few triples and a wide normal prior for c. With B = K^-1 Z and G = Z' B + 1 / prior,
//
//   c = G^-1 B' y,    phi = V (y - Z c) + S c,    S_iT = 2 / 3 for the players of T,
//
// with V the process' own matrix from left sides to values. The variance of phi_i given the pairs is that of the
// process plus D_i G^-1 D_i', D = S - V Z.
//
// Triples are added in stages, those of the largest |z_T' u| first, where u = K^-1 y of what is not yet explained,
// found from all pairs but the probes. So probes take no part in the selection, and their residuals, each found from
// all other pairs with these triples, tell how far to go, and whether the fit is better than the shared ones. With more
// than 32 players only triples of those with the largest values are looked at.
//
// That regression on few odd interactions finds what a shared prior cannot is Fumagalli et al.'s (2026, "OddSHAP");
// they screen by a booster and fit no process to the rest.
//
// Cost for a row with n pairs and d players: n d^3 / 3 multiplications for each of up to six stages, n triples^2, and
// n^2 for each triple that no row before has used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/explain/games/interaction_regression.h"

namespace assay {

class TripleRegression {
 public:
  // Whether pairs are few beside the single players and triples there are. With more, a process of all triples finds
  // large ones as well.
  static bool few_pairs(size_t players, size_t pairs);
  // Whether they are few, enough to select triples by some and judge them by others, and not so many that evaluations
  // are cheaper than the search.
  static bool worthwhile(size_t players, size_t pairs);

  // Two processes: triples are searched for with the first, and those found are fitted with the second as well.
  TripleRegression(const PairDesign& design, std::span<const size_t> probes, SolvedProcess first, SolvedProcess second);
  TripleRegression(TripleRegression&&) noexcept;
  TripleRegression& operator=(TripleRegression&&) noexcept;
  ~TripleRegression();

  struct Fit {
    std::vector<std::array<uint16_t, 3>> triples;  // none: there is no fit
    std::vector<double> values;                    // of the players, less the equal share
    std::vector<double> residuals;                 // of the probes, each left out
    std::vector<double> pair_residuals;            // of all pairs, likewise, as in InteractionRegression::own_errors()
    std::vector<double> variances;                 // of the players' values given the pairs, for a game of scale 1
    double square = 0;                             // sum of the squares of the residuals that count
    double scale = 0;                              // of the game, times (probes - 2)
  };
  // The fits of some rows (rows x pairs). `values` are the rows' values so far: they say which players to look at.
  // `counts` says of each probe whether the choice is by it, `bars` what square is to be improved on: a row that eight
  // triples do not bring below it is left alone.
  std::vector<Fit> fit(MatrixView<const double> sides, MatrixView<const double> values, std::span<const uint8_t> counts,
                       std::span<const double> bars) const;

 private:
  class Row;
  class Columns;
  struct Process {
    SolvedProcess solved;
    std::unique_ptr<Columns> columns;
  };

  size_t players_;
  std::vector<size_t> probes_;   // columns of K
  std::vector<size_t> nearest_;  // the probe nearest to each pair
  std::array<Process, 2> processes_;
  Matrix signs_;  // players x columns of K: 1 for players of the coalition, -1 for others
};

}  // namespace assay

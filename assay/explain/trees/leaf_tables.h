// The Shapley values that one leaf of weight 1 gives to the players on its path, for every row at once.
//
// Let j = 0 .. k - 1 be the distinct players on the path. Which of them have a row on the leaf's side at all their
// branches is its pattern, q, with bit j for player j. All that the leaf adds to a row's values is a function of q:
//
//   interventional: against a reference row of pattern u the leaf is reached by a coalition S that has all of A, whom
//                   the row alone brings here, and none of N, whom the row turns away; nowhere when the two rows
//                   both turn somebody away. With a = |A| and b = |N| a player of A gets (a - 1)! b! / (a + b)!, one of
//                   N gets -a! (b - 1)! / (a + b)!; the value is the mean over the reference rows.
//   by covers:      an absent player lets the share r_j of the rows through at its branches, so that the leaf's game is
//                   v(S) = prod over S of q_j * prod over others of r_j. Its values are the integrals over t in [0, 1]
//                   of (q_j - r_j) prod over i != j of (r_i + t (q_i - r_i)) (Owen 1972), polynomials in t of degree
//                   k - 1, exact by ceil(k / 2) points of Gauss and Legendre.
//
// Reference rows of one pattern count together: the work is that of 2^k patterns, however many rows there are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay {

// Memory that calls use again.
struct LeafTableScratch {
  std::vector<double> sums;
};

// counts[u]: how many reference rows have pattern u (2^k of them). values[q * k + j]: of player j where the row's
// pattern is q, summed over the reference rows, times `weight`. Players whom no reference row tells from the row get
// exactly 0.
void interventional_leaf_table(size_t k, std::span<const double> counts, double weight, LeafTableScratch& scratch,
                               std::span<double> values);

// ratios[j]: the share of rows that player j's branches let through, from 0 to 1.
void path_leaf_table(std::span<const double> ratios, double weight, LeafTableScratch& scratch,
                     std::span<double> values);

}  // namespace assay

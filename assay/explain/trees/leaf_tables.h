// The Shapley values that one leaf of weight 1 gives to the players on its path, for every row at once.
//
// Let j = 0 .. k - 1 be the distinct players on the path. The pattern q of a row has bit j set if the row goes towards
// the leaf at all branches of player j. What the leaf adds to a row's values depends only on q:
//
//   interventional: against a reference row of pattern u, let A be the players set in q but not in u, and N those not
//                   set in q. If a player is set in neither, no coalition reaches the leaf. Otherwise coalitions with
//                   all of A and none of N reach it. With a = |A| and b = |N|, a player of A gets
//                   (a - 1)! b! / (a + b)!, one of N gets -a! (b - 1)! / (a + b)!; summed over reference rows.
//   by covers:      if player j is absent, its branches pass the share r_j of the rows on towards the leaf, so the
//                   leaf's game is v(S) = prod over S of q_j * prod over others of r_j. Its values are the integrals
//                   over t in [0, 1] of (q_j - r_j) prod over i != j of (r_i + t (q_i - r_i)) (Owen 1972). These are
//                   polynomials of degree k - 1, so ceil(k / 2) Gauss-Legendre points are exact.
//
// Reference rows of one pattern count together: the work is that of 2^k patterns, however many rows there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// Memory that calls use again.
struct LeafTableScratch {
  std::vector<double> sums;
};

// counts[u]: how many reference rows have pattern u, for 2^k patterns. values[q * k + j]: the value of player j for a
// row of pattern q, summed over the reference rows, times `weight`. A player gets exactly 0 if no reference row differs
// from the row in its bit.
void interventional_leaf_table(size_t k, std::span<const double> counts, double weight, LeafTableScratch& scratch,
                               std::span<double> values);

// values[j]: the value of player j for a row of pattern q alone, with the bits that it has in the table. counts[i]: how
// many reference rows have patterns[i].
void interventional_leaf_row(size_t k, std::span<const uint16_t> patterns, std::span<const double> counts,
                             double weight, uint32_t q, std::span<double> values);

// ratios[j]: r_j above, from 0 to 1. values as above.
void path_leaf_table(std::span<const double> ratios, double weight, LeafTableScratch& scratch,
                     std::span<double> values);
// values[j]: for a row of pattern q alone, with the bits that it has in the table.
void path_leaf_row(std::span<const double> ratios, double weight, uint32_t q, std::span<double> values);

}  // namespace assay

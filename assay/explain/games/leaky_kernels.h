// The vector loops of games/leaky_game.cpp.
//
// A row's game is v(S) = additive(S) + sum over units j of sign_j * max(t_j(S), 0), where t_j(S) = base_j + sum over
// players in S of delta_pj. Players are split: L_j is the part of the first `low` players, B_j the rest. Then t_j(S) =
// B_j + L_j and
//   max(B + L, 0) = max(B, -L) + L,
// where the last term is additive. What is left is one maximum and one addition for each unit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/explain/games/scratch_pool.h"

namespace assay {

// A row against a reference row, ready to be played. Arrays by unit have `stride` numbers, 0 after the last unit. The
// first `plus` units have a positive sign.
struct LeakyRow {
  size_t players = 0;
  size_t low = 0;  // how many players are low: the first ones; their `deltas` are stored with the opposite sign
  size_t units = 0;
  size_t plus = 0;
  size_t stride = 0;
  const float* deltas = nullptr;     // players x stride
  const float* base = nullptr;       // stride
  const float* signs = nullptr;      // stride: 1 or -1
  const double* additive = nullptr;  // of each player
  double constant = 0;               // additive part of no players
  // -L is so large beside the units' values that max(B, -L) + L would be mostly rounding.
  bool cancels = false;
};

// How many low players values_of_range wants, for the vector target in use.
size_t low_players_of_range();

// values[i] = v of the coalition whose bits are first + i, for i < count; count is a power of two, first a multiple of
// it. row.low is the smaller of low_players_of_range() and row.players. A value's bits depend on the row and the
// coalition alone.
void values_of_range(const LeakyRow& row, uint64_t first, size_t count, VectorBuffer<float>& scratch, float* values);

// values[i] = the sum over chunks of additive[rows[i * chunks + c]], plus the sum over units of sign * max(B, -L),
// where -L is table row rows[i * chunks] and B the sum of table rows rows[i * chunks + 1] and on. At least two chunks.
void values_of_table_rows(const LeakyRow& row, const float* tables, const float* additive, const uint32_t* rows,
                          size_t chunks, size_t count, float* values);

// sums[m] = start + the sum of numbers[p] over the bits p of m, for all m below 2^count, in float64; count at most 8.
void sum_subsets(const double* numbers, size_t count, double start, float* sums);

// Scales deltas[p][j] by scales[j] and finds bounds of base + sums of deltas: lowest[j] = base[j] + sum of negative
// deltas, highest[j] likewise. Rows of deltas are `wide` numbers, of which the first `units` count.
void scale_and_bound(size_t players, size_t units, size_t wide, const double* scales, const double* base,
                     double* deltas, double* lowest, double* highest);

}  // namespace assay

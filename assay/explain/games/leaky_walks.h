// Orders of the players through a network with one hidden layer of (leaky) ReLUs, for several rows side by side.
//
// With z_j the entry of unit j, joined by one player after another, and b_j = w_j (1 - s) as in games/leaky_game.cpp,
//   v = additive + sum over j of b_j max(z_j, 0).
// Rows lie in the lanes of vectors: an addition, a maximum and a multiplication-addition for each unit and coalition,
// no tables and no sums across lanes. Eight units at a time keep their entries in registers along an order.
//
// A unit whose entry keeps its sign over all coalitions of a row goes to the additive part, which is summed in float64;
// the rest is float32. A value's bits depend on its row and the order, not on the rows in the other lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/core/matrix.h"
#include "assay/explain/games/scratch_pool.h"

namespace assay {

// Rows against a reference row. Arrays "by row" are of walk_lanes() numbers for each item, those of one item together.
struct LeakyWalk {
  size_t players = 0;
  MatrixView<const float> weights;             // columns x units: of the first layer
  std::span<const uint32_t> player_of_column;  // of each column
  std::span<const double> base;                // of each unit: the reference row's entry
  const float* differences = nullptr;          // by row: of each column
  const float* bends = nullptr;                // by row: b of each unit
  double* additive = nullptr;                  // by row: of no players, then of each player; units may be added
};

// How many rows are walked at a time, for the vector target in use.
size_t walk_lanes();

// values, by row: of each of Coalitions::along(players, orders).
void walk_orders(const LeakyWalk& walk, std::span<const uint32_t> orders, VectorBuffer<float>& scratch, float* values);

}  // namespace assay

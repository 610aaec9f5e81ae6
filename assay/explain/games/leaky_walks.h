// Values of a network with one hidden layer of (leaky) ReLUs along orders of the players, for several rows at once.
//
// Players join one after another. With z_j the input of unit j and b_j = w_j (1 - s) as in games/leaky_game.cpp,
//   v = additive + sum over j of b_j max(z_j, 0).
// Each vector lane holds another row: an addition, a maximum and a multiply-add for each unit and coalition, without
// tables or sums across lanes. Eight units at a time stay in registers along an order.
//
// A unit whose z_j has the same sign for all coalitions of a row goes to the additive part, which is summed in float64;
// the rest is float32. A value's bits depend on its row and the order, not on the rows in other lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/core/matrix.h"
#include "assay/explain/games/scratch_pool.h"

namespace assay {

// Rows against a reference row. Arrays "by row" hold walk_lanes() numbers for each item, one for each row.
struct LeakyWalk {
  size_t players = 0;
  MatrixView<const float> weights;             // columns x units: of the first layer
  std::span<const uint32_t> player_of_column;  // of each column
  std::span<const double> base;                // of each unit: its input for the reference row
  const float* differences = nullptr;          // by row: row less reference row, of each column
  const float* bends = nullptr;                // by row: b of each unit
  double* additive = nullptr;                  // by row: of no players, then of each player; units may be added
};

// How many rows are walked at a time, for the vector target in use.
size_t walk_lanes();

// values, by row: of each coalition of Coalitions::along(players, orders). Those of one coalition are `stride` numbers
// after those of the last, a multiple of walk_lanes().
void walk_orders(const LeakyWalk& walk, std::span<const uint32_t> orders, VectorBuffer<float>& scratch, float* values,
                 size_t stride);

}  // namespace assay

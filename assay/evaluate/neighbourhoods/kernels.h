// The vector arithmetic of neighbourhood sensitivity: explanations of many rows against those of 32 neighbours at a
// time, stored player by player.
//
// All in float64, player after player, and summed by place modulo kLanes. The arithmetic is the same on every vector
// target, and for one pair the same as distance_between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/data/neighbours.h"
#include "assay/evaluate/common.h"

namespace assay {

enum class Fold { mean, max };

// Sums, or maxima, of a row over its neighbours: the neighbour at place p goes into lane p % kLanes, places ascending.
inline constexpr size_t kLanes = 8;
struct alignas(64) FoldLanes {
  double values[kLanes] = {};  // sums, or largest so far
};

// One row, and which places of the block are its neighbours (bits of `places`).
struct TileQuery {
  const float* values = nullptr;  // its explanation
  uint32_t places = 0;
  const double* rho = nullptr;  // by place: what its distance is divided by; null: not divided
  FoldLanes* lanes = nullptr;
};

// Whether fold_tile can compute this distance: l1, l2 and l0.
bool has_tile_kernel(ExplanationDistance distance);

// Adds the distances between each query and its places to the query's lanes. All queries have rho, or none has. tile:
// players x kBlockRows; wide: scratch for as many float64 numbers; both aligned to 64 bytes.
void fold_tile(ExplanationDistance distance, Fold fold, const float* tile, double* wide, size_t players,
               std::span<const TileQuery> queries);

// The same for one neighbour whose distance is known, and divided by rho already.
inline void fold_one(Fold fold, size_t place, double distance, FoldLanes& lanes) {
  double& lane = lanes.values[place % kLanes];
  lane = fold == Fold::mean ? lane + distance : (distance > lane ? distance : lane);
}

}  // namespace assay

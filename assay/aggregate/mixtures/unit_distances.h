// Distances between mixtures of unit norm, for many weights at once.
//
// For a pair with Gram matrix G, weights w, and a and b the mixtures of its two rows,
//   || a / |a| - b / |b| || = sqrt((w' G w - (|a| - |b|)^2) / (|a| |b|)),
// and 1 if exactly one of a and b is zero, 0 if both are. Each vector lane has its own weights: a multiply-add for each
// entry of G that the block of weights needs, in float64. sqrt(x / s) is x times the inverse root of x s, which is
// rounded to float32 first and then refined: division and root of float64 would take most of the time. Only exactly
// rounded operations are used, so processors with one vector target agree. The last digits depend on the vector target,
// which may fuse multiply-adds.
#pragma once

#include <cstddef>

#include "assay/aggregate/mixtures/pair_grams.h"
#include "assay/aggregate/mixtures/weight_blocks.h"

namespace assay {

// What the distances are computed from. Both arrays have weights.width() columns.
struct UnitMixtures {
  const WeightBlocks& weights;
  const double* row_norms = nullptr;   // norms of the mixtures of the row: one row of numbers
  const double* pool_norms = nullptr;  // norms of the mixtures of neighbours: row PairSpan::others[i] is that of pair i
};

// sums[t] += sum over the pairs, in order, of factor times distance, for column t of the weights. packed: the size of
// one Gram matrix.
void add_unit_distances(const PairSpan& pairs, size_t packed, const UnitMixtures& mixtures, double* sums);

}  // namespace assay

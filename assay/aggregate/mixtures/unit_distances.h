// Distances between mixtures of unit norm, for many weights at once.
//
// For a pair with Gram matrix G, weights w, and a and b the mixtures of its two rows,
//   || a / |a| - b / |b| || = sqrt((w' G w - (|a| - |b|)^2) / (|a| |b|)),
// and 1 if exactly one of a and b is zero, 0 if both are. Each vector lane has its own weights: m (m + 1) / 2
// multiply-adds, a division and a root, in float64. The last digits depend on the vector target, which may fuse
// multiply-adds.
#pragma once

#include <cstddef>

#include "assay/aggregate/mixtures/pair_grams.h"

namespace assay {

// The number of weights is rounded up to a multiple of this; the added columns are 0.
inline constexpr size_t kUnitWidth = 32;

// What the distances are computed from. All arrays have `width` columns, one for each of the weights.
struct UnitMixtures {
  size_t width = 0;
  size_t packed = 0;
  const double* products = nullptr;    // packed_products(), a row for each entry of a Gram matrix
  const double* row_norms = nullptr;   // norms of the mixtures of the row: one row of numbers
  const double* pool_norms = nullptr;  // norms of the mixtures of neighbours: row PairSpan::others[i] is that of pair i
};

// sums[t] += sum over the pairs, in order, of factor times distance, for weights t.
void add_unit_distances(const PairSpan& pairs, const UnitMixtures& mixtures, double* sums);

}  // namespace assay

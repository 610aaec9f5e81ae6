// Distances between mixtures of unit norm, for many weights at once.
//
// For a pair with Gram matrix G and weights w, || a / |a| - b / |b| || = sqrt((w' G w - (|a| - |b|)^2) / (|a| |b|)), a
// and b the mixtures at both ends; 1 where exactly one of them is zero, 0 where both are. Weights fill the lanes of
// vectors: m (m + 1) / 2 multiply-adds, a division and a root for each, in float64. The last digits depend on the
// target, which may fuse multiply-adds.
#pragma once

#include <cstddef>

#include "assay/aggregate/mixtures/pair_grams.h"

namespace assay {

// Numbers of weights are rounded up to a multiple of this; what is added is 0 throughout.
inline constexpr size_t kUnitWidth = 32;

// Norms of mixtures and what sums are made of, a column for each of the weights, `width` of them.
struct UnitMixtures {
  size_t width = 0;
  size_t packed = 0;
  const double* products = nullptr;    // packed_products(), a row for each entry of a Gram matrix
  const double* row_norms = nullptr;   // of the row whose pairs these are
  const double* pool_norms = nullptr;  // a row for each neighbour, as pairs count them
};

// sums[t] += sum over the pairs, in order, of factor times distance.
void add_unit_distances(const PairSpan& pairs, const UnitMixtures& mixtures, double* sums);

}  // namespace assay

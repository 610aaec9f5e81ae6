// The sensitivity of mixtures as a function of their weights, from the Gram matrices of pairs (pair_grams.h).
//
// A pair with Gram matrix G and factor c (1, or 1 / rho) has the distance c sqrt(w' G w). The sensitivity of a row is
// the mean, or the largest, of the distances of its pairs; that of several rows is the mean over them. Both are convex
// in w and grow in proportion to it. Where the members' differences cancel, the square root has a kink; its slope is
// then taken as 0, which is a subgradient. Close to a kink, slopes are lowered by what rounding may have added, because
// lower bounds are made from them. All in float64; rows are added up in order.
// Cost: about m^2 operations for a pair, as much again for second derivatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/aggregate/mixtures/pair_grams.h"
#include "assay/aggregate/mixtures/sublinear.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/neighbourhoods/kernels.h"

namespace assay {

// The mean over all rows. It has second derivatives for Fold::mean only.
SublinearPoint mixture_sensitivity(const PairGrams& grams, Fold fold, std::span<const double> weights,
                                   const Context& context);
// The same for one row; `pairs` are all its pairs.
SublinearPoint mixture_sensitivity(const PairSpan& pairs, Fold fold, std::span<const double> weights);

// Sensitivity after each mixture is scaled to unit norm. Zero stays zero, at distance 1 from all others: the criterion
// leaves such rows out, but a search over weights must not win by cancelling. It is not convex in w:
//   || a / |a| - b / |b| ||^2 = (w' G w - (|a| - |b|)^2) / (|a| |b|).
// a and b are the mixtures of the row and of its neighbour. Vectorised over weights (mixtures/unit_distances.h).
class UnitSensitivity {
 public:
  explicit UnitSensitivity(const PairGrams& grams)
      : grams_(grams), row_grams_(grams.row_grams()), pool_grams_(grams.pool_grams()) {}

  // For each row of `weights`, the mean over all rows of the mean over their pairs.
  std::vector<double> means(MatrixView<const double> weights, const Context& context) const;
  // The mean over rows of the mean factor of their pairs: all values are in proportion to the factors.
  double scale(const Context& context) const;
  // For grams.rows()[i] alone; `pairs` are all its pairs.
  double of_row(size_t i, const PairSpan& pairs, Fold fold, std::span<const double> weights) const;

 private:
  const PairGrams& grams_;
  Matrix64 row_grams_;
  Matrix64 pool_grams_;
};

}  // namespace assay

// Sensitivities of mixtures from the Gram matrices of pairs, as functions of the weights.
//
// For a row x with n pairs z of factor c (1, or 1 / rho) the mean is sum of c sqrt(w' G w) / n and the largest is max
// of c sqrt(w' G w); over several rows the mean of these. Both are convex in w and grow in proportion to it. Where the
// members' differences cancel, the square root has a kink: 0 is then taken as its slope, which is one of its
// subgradients. Close to a kink slopes are made smaller by as much as rounding may have added, since bounds are made of
// them. All in float64; rows are added up in order.
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

// The mean over rows, with second derivatives where it is a mean over pairs too.
SublinearPoint mixture_sensitivity(const PairGrams& grams, Fold fold, std::span<const double> weights,
                                   const Context& context);
// Of one row, all of whose pairs these are.
SublinearPoint mixture_sensitivity(const PairSpan& pairs, Fold fold, std::span<const double> weights);

// The same after each mixture is scaled to unit norm (zero stays zero), which is not convex:
//   || a / |a| - b / |b| ||^2 = (w' G w - (|a| - |b|)^2) / (|a| |b|).
// For many weights at once in vectors (mixtures/unit_distances.h).
class UnitSensitivity {
 public:
  explicit UnitSensitivity(const PairGrams& grams)
      : grams_(grams), row_grams_(grams.row_grams()), pool_grams_(grams.pool_grams()) {}

  // For each of several weights, a row each, the mean over rows.
  std::vector<double> means(MatrixView<const double> weights, const Context& context) const;
  // The mean over rows and their pairs of the pairs' factors, which all values are in proportion to.
  double scale(const Context& context) const;
  // Of row i of grams.rows() alone, all of whose pairs these are.
  double of_row(size_t i, const PairSpan& pairs, Fold fold, std::span<const double> weights) const;

 private:
  const PairGrams& grams_;
  Matrix64 row_grams_;
  Matrix64 pool_grams_;
};

}  // namespace assay

// Faithfulness of all mixtures from one game.
//
// With a_j the sums of member j over the subsets of a row and v what the model loses without them, a mixture's
// correlation is
//   w' c / sqrt(w' Sigma w),   c_j = cov(a_j, v) / sd(v),   Sigma_jk = cov(a_j, a_k),
// so that the game is played once, however many weights are tried. The same subsets, values and rules of what does not
// vary as the faithfulness criterion (evaluate/subsets/subset_correlation.h). In float64, about the means.
// Cost: one game value for each subset, row and reference row; m^2 / 2 operations for each subset and row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/subsets/subset_design.h"

namespace assay {

struct SubsetMoments {
  std::vector<size_t> rows;  // where the correlation of every member is defined, ascending
  Matrix64 with_loss;        // a row for each of them: c
  Matrix64 between;          // Sigma, packed
  Matrix64 others;           // all rows x other attributions: their correlations, NaN where undefined
  uint64_t evaluations = 0;
};

// others: attributions of all rows that are placed beside the mixtures.
SubsetMoments subset_moments(const AggregateTask& task, const Members& members, const SubsetDesign& design,
                             std::span<const Matrix* const> others, const Context& context);

// Of the mixture of row i of moments.rows; NaN where its sums deviate by no more than `rounding`.
double mixture_faithfulness(const SubsetMoments& moments, size_t i, std::span<const double> weights,
                            std::span<const double> products, double rounding);

}  // namespace assay

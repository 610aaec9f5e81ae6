// Faithfulness of any number of mixtures, from values of the game that are computed once.
//
// For a row, let a_j be the sums of member j's attributions over each subset, and v what the explained value loses when
// that subset is removed. The correlation of a mixture with weights w is
//   w' c / sqrt(w' Sigma w),   c_j = cov(a_j, v) / sd(v),   Sigma_jk = cov(a_j, a_k),
// Subsets, values, and the rules for what counts as constant are those of the faithfulness criterion
// (evaluate/subsets/subset_correlation.h). In float64; means are subtracted first.
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
  Matrix64 with_loss;        // rows x members: c
  Matrix64 between;          // by row: Sigma, packed (pair_grams.h)
  Matrix64 others;           // all rows of the task x others: their correlations, NaN where undefined
  uint64_t evaluations = 0;
};

// others: further attributions of all rows, whose correlations are computed too.
SubsetMoments subset_moments(const AggregateTask& task, const Members& members, const SubsetDesign& design,
                             std::span<const Matrix* const> others, const Context& context);

// The correlation of the mixture of moments.rows[i]; NaN if the standard deviation of its sums is at most `rounding`.
// products: packed_products(weights).
double mixture_faithfulness(const SubsetMoments& moments, size_t i, std::span<const double> weights,
                            std::span<const double> products, double rounding);

}  // namespace assay

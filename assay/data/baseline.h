// Baselines: the row that stands for "feature absent", and samples of rows to average over instead.
//
// Statistics are taken per feature group on the pool; missing and infinite values are left out. The zero baseline is
// Encoder::zero_row, because zero means zero in raw units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/data/dataset.h"

namespace assay {

// Numeric features at their mean, categorical ones (codes or one-hot) at their mode (the lowest code of several).
std::vector<float> mean_baseline(const Dataset& pool);
// Numeric features at their median, categorical ones at their mode.
std::vector<float> median_baseline(const Dataset& pool);
// The same rows before they are rounded to float32, for models that compare doubles. Columns whose numbers only stand
// for the user's cells (Dataset::shown) are averaged by those cells.
std::vector<double> mean_cells(const Dataset& pool);
std::vector<double> median_cells(const Dataset& pool);
// The standard deviation of each numeric column, 0 for categories and for columns with fewer than two numbers.
std::vector<float> numeric_deviations(const Dataset& pool);
// How many numbers are infinite.
size_t infinite_numbers(const Dataset& pool);
// A row the user gives: `given` holds exactly one, encoded like the pool. An input error otherwise.
std::vector<float> given_baseline(const Dataset& given, const Dataset& pool);
// The pool row with the least confident prediction; the first of several. confidence[i] is the largest class
// probability of row i (or any number that grows with confidence); NaN never wins. An input error when none is defined.
size_t neutral_row(std::span<const double> confidence);
// `count` distinct pool rows at random, ascending; all rows if there are no more than that.
std::vector<size_t> background_rows(size_t pool_rows, size_t count, uint64_t seed);
// One row of each of `count` strata of `order`, in its order: consecutive rows, whose numbers differ by one at most.
// All rows if there are no more than `count`. Which strata are the longer ones is random, so rows have (nearly, at the
// two ends) the same chance. Of a stratum the row with the smallest random number of its own is drawn. So two rows that
// change places within a stratum, because scores are rounded differently, do not change what is drawn.
std::vector<size_t> spread_rows(std::span<const size_t> order, size_t count, uint64_t seed);

}  // namespace assay

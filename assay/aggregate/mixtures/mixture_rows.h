// Mixtures of the members' rows, and their complexity for many weights at once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/explanations.h"

namespace assay {

// sum over j of w_j times member j of this row, in float64, stored as float32.
void mix_row(const Members& members, size_t row, std::span<const double> weights, std::span<double> scratch,
             std::span<float> out);

// Of all rows, NaN where a member is not all numbers; nothing but the values is set.
Explanations mixed_rows(const Members& members, std::span<const double> weights, const Context& context);

// Rows whose members are all numbers and none of them zero.
std::vector<size_t> rows_of_nonzero_members(const Members& members);

// Mixes each of these rows by each of the weights (a row each): see(i, first, mixed) has the mixtures of rows[i] by
// weights first, first + 1, ..., as they are stored. From several threads at once for different rows.
void each_mixture(const Members& members, std::span<const size_t> rows, MatrixView<const double> weights,
                  const std::function<void(size_t i, size_t first, MatrixView<const float> mixed)>& see,
                  const Context& context);

// Mixtures of a smaller norm have no complexity: it is that of rounding.
inline constexpr double kLeastMixtureNorm = 1e-4;

// For each of the weights the mean complexity over these rows; infinite where some mixture has a norm below
// `least_norm` or is zero: then it has none.
std::vector<double> mean_complexities(const Members& members, std::span<const size_t> rows,
                                      MatrixView<const double> weights, double least_norm, const Context& context);

// Weights of little mean complexity over these rows: the best of all vertices, points on all segments between two of
// them and the centre; then from the best few of these steps between pairs of members, which get shorter. Entropy is
// far from convex, so that this is no certified minimum, but never worse than any vertex.
struct LeastComplexity {
  std::vector<double> weights;  // as float32 holds them
  double value = 0;
};
LeastComplexity search_least_complexity(const Members& members, std::span<const size_t> rows, double least_norm,
                                        const Context& context);

}  // namespace assay

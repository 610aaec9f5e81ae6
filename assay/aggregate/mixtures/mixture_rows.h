// Mixtures of the members' rows, and their complexity for many weights at once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/explanations.h"

namespace assay {

// out = sum over j of w_j times member j of this row, computed in float64, stored as float32.
void mix_row(const Members& members, size_t row, std::span<const double> weights, std::span<double> scratch,
             std::span<float> out);

// The mixture of every row; NaN in rows where a member is not all numbers. Only the values are set.
Explanations mixed_rows(const Members& members, std::span<const double> weights, const Context& context);
// The same as the result of an aggregator, with these weights in every row; task: for progress.
void mix_all(const Members& members, std::span<const double> weights, Combined& out, const Context& context,
             std::string_view task);

// The rows in which all members are numbers and no member is zero.
std::vector<size_t> rows_of_nonzero_members(const Members& members);

// Mixes each of these rows by each row of `weights`. see(i, first, mixed) gets the mixtures of rows[i] by weights
// first, first + 1, ..., in float32. It is called from several threads at once for different rows.
void each_mixture(const Members& members, std::span<const size_t> rows, MatrixView<const double> weights,
                  const std::function<void(size_t i, size_t first, MatrixView<const float> mixed)>& see,
                  const Context& context);

// The complexity of a mixture with a smaller norm would be that of rounding noise.
inline constexpr double kLeastMixtureNorm = 1e-4;

// By row of `weights`: the mean complexity over these rows; infinite if a mixture is zero or shorter than `least_norm`.
std::vector<double> mean_complexities(const Members& members, std::span<const size_t> rows,
                                      MatrixView<const double> weights, double least_norm, const Context& context);

// Weights of low mean complexity over these rows. Starts are all vertices, points between any two vertices, and the
// centre. From the best few starts, steps move weight from one member to another, ever shorter. Entropy is far from
// convex: the result need not be the minimum, but it is never worse than a vertex.
struct LeastComplexity {
  std::vector<double> weights;  // exact in float32
  double value = 0;
};
LeastComplexity search_least_complexity(const Members& members, std::span<const size_t> rows, double least_norm,
                                        const Context& context);

}  // namespace assay

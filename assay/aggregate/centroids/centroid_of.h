// The centroid of the members of one row: argmin over g of the sum over members of D(g, g_i)^p, with a lower bound of
// that sum which holds for every g.
//
// l2, p = 2 is the mean; l1, p = 1 the median of each feature; the rest is convex, and solved by Newton's method.
//
// Lower bounds by Hoelder's inequality, with q = p / (p - 1) and || ||_q the q-norm over members:
//   l2: for vectors z_i that sum to 0,  (sum_i D_i^p)^(1/p) >= sum_i <z_i, g - g_i> / || |z_i| ||_q
//       = - sum_i <z_i, g_i> / || |z_i| ||_q, which no longer depends on g. Tight at z_i = D_i^(p-1) (g - g_i) / D_i.
//   l1: for weights c_i >= 0,  (sum_i D_i^p)^(1/p) >= min over g of sum_i c_i D_i / ||c||_q, and that minimum is at the
//       weighted medians of the features. Tight at c_i = D_i^(p-1).
#pragma once

#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

struct Centroid {
  std::vector<double> values;
  std::vector<double> weights = {};  // of the members: the centroid is their weighted sum; empty for l1
  double loss = 0;                   // sum of D^p
  double bound = 0;                  // no point has a smaller loss; at most `loss`
};

// Newton's method stops at this relative difference of loss and bound.
inline constexpr double kCentroidGap = 1e-10;

// Any l2 centroid but the mean. Cost: members^2 x players, then some tens of steps of members^3.
Centroid euclidean_centroid(MatrixView<const double> members, double p, const Context& context);

// Any l1 centroid but the median. Cost: some tens of steps of members^2 x players.
Centroid manhattan_centroid(MatrixView<const double> members, double p, const Context& context);

Centroid mean_centroid(MatrixView<const double> members);
// For an even number of members, the midpoint of the two middle values: all values between them have the same loss.
Centroid median_centroid(MatrixView<const double> members);

// The q-norm for q = p / (p - 1); the largest value for p = 1. Values are at least 0.
double conjugate_norm(std::span<const double> values, double p);

}  // namespace assay

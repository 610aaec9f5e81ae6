// The geometric median of points where it is known without iterations: on a line, and at one of the points. A point is
// the optimum when the others pull no harder than it and its equals hold: |sum of unit vectors| at most their number
// (Vardi, Zhang, PNAS 2000).
//
// Cost: points^2 x dimensions.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// Weights of the points whose sum is their geometric median; nothing where neither case holds. On a line the
// midpoint of the two middle points of an even number.
std::optional<std::vector<double>> exact_median(MatrixView<const double> points);

// All of it on one point, shared with those that equal it.
std::vector<double> weights_at(MatrixView<const double> points, size_t point);

}  // namespace assay

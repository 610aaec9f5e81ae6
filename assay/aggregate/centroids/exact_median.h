// The geometric median of points in the two cases that need no iterations: the points lie on a line, or the median is
// one of the points. A point is the median if the unit vectors from it to the other points have a sum of norm at most
// k, where k points equal it, itself included (Vardi, Zhang, PNAS 2000).
//
// Cost: points^2 x dimensions.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/core/matrix.h"

namespace assay {

// Weights with which the points add up to their geometric median; nothing where neither case holds. On a line, an even
// number of points gives the midpoint of the two middle ones.
std::optional<std::vector<double>> exact_median(MatrixView<const double> points);

// Weights that add up to this point: shared equally by all points that equal it, 0 for the others.
std::vector<double> weights_at(MatrixView<const double> points, size_t point);

}  // namespace assay

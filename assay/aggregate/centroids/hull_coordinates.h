// Members as points in the space that they span around their mean, which has at most members - 1 dimensions, and never
// more than players. Distances between points of the hull stay the same (Gram-Schmidt with pivots, each direction
// orthogonalised twice), so problems that depend only on l2 distances can be solved there.
//
// Cost: members^2 x players. The Gram matrix is not used: it would lose half the digits of members that are close.
#pragma once

#include "assay/core/matrix.h"

namespace assay {

struct HullCoordinates {
  Matrix64 points;   // members x dimensions, their mean at 0, the farthest at distance 1; no columns: all are equal
  double scale = 0;  // of distances: those of the members = scale x those of the points
};

// Equal members get points of equal bits.
HullCoordinates hull_coordinates(MatrixView<const double> members);

}  // namespace assay

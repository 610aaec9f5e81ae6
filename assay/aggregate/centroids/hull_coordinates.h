// Members as points of as few dimensions as they span around their mean: at most members - 1, and never more than
// players. Distances between points of the hull are the same there (an isometry, by Gram-Schmidt with pivots, each
// direction orthogonalised twice), so that whatever depends on l2 distances alone can be solved in it.
//
// Cost: members^2 x players. Not by the Gram matrix: its factor keeps only half the digits of members that are close.
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

// What float32 loses of cells: which numbers it rounds, and what of a column is worth telling: where rounding moves its
// cells by a thousandth of their range.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "assay/core/matrix.h"

namespace assay {

// Whether a number beyond 2^24 is not its float32 number: what every reader counts as Column::rounded, for nanoseconds
// (1.7e18) as for seconds. narrow: the number as float32.
inline bool is_rounded(double number, float narrow) {
  return std::fabs(narrow) >= 0x1p24F && std::isfinite(number) && static_cast<double>(narrow) != number;
}

struct LostDigits {
  double size = 0;      // of the largest cell, without its sign
  double spread = 0;    // from the least cell to the largest
  double rounding = 0;  // of the largest cell, at most
  bool worth_telling = false;
};

// Cells that are not finite are left out. A column of one number is told from 2^14 on, where a thousandth is lost.
inline LostDigits lost_digits(MatrixView<const float> rows, size_t column) {
  constexpr double kRounding = 0x1p-24;
  constexpr double kShare = 1e-3;
  constexpr double kLargeConstant = 0x1p14;
  double least = INFINITY;
  double most = -INFINITY;
  for (size_t r = 0; r < rows.rows(); r++) {
    const double cell = rows(r, column);
    if (!std::isfinite(cell)) continue;
    least = std::min(least, cell);
    most = std::max(most, cell);
  }
  if (least > most) return {};
  const double size = std::max(std::fabs(least), std::fabs(most));
  const double spread = most - least;
  const bool told = spread > 0 ? size * kRounding > kShare * spread : size >= kLargeConstant;
  return {size, spread, size * kRounding, told};
}

}  // namespace assay

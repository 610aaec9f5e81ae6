// For the sizes u_k of coordinates, the sums S of u_k and T of u_k ln u_k: entropy = ln S - T / S.
//
// Bits depend on the numbers and the vector target alone; targets agree to 1e-13 of S.
#pragma once

#include <cstddef>
#include <span>

namespace assay {

struct SizeSums {
  double norm = 0;  // S
  double logs = 0;  // T, with 0 ln 0 = 0
};

// A coordinate that changes its sign on a segment: at t its size is slope |t - at|, exactly 0 at its own `at`.
struct Crossing {
  double at = 0;
  double slope = 0;
};

// The sums over the sizes (1 - t) from + t to, which must not be negative.
SizeSums plain_sums(std::span<const double> from, std::span<const double> to, double t);
SizeSums crossing_sums(std::span<const Crossing> crossings, double t);
// logs[k] = |v_k| ln |v_k|.
void size_logs(std::span<const double> values, std::span<double> logs);
// The sums of |v_k| and of the given logs.
SizeSums sums_with_logs(std::span<const double> values, std::span<const double> logs);
double l1_norm(std::span<const double> values);
// Entropy of |v| / sum |v|, by the formula of evaluate/kernels/entropy.h, so that nothing cancels; NaN if all are 0.
double entropy_of(std::span<const double> values);

}  // namespace assay

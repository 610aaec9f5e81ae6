// What Softmax, LogSoftmax and LogOdds share: the lines they run along, and DeepLift through exponentials of a line.
//
// All three are computed as every framework computes them: the largest z is subtracted first. Their DeepLift rule is
// composed of that computation's steps. u = max(z) by the rule of Max, centred z - u, exp by the rescale rule, their
// sum S, then a quotient (product rule) or a logarithm (rescale rule). With the centred values' multipliers m:
//   multiplier of z_j = m_j - (sum of m) * (multiplier of z_j in u)
// Because both lines are centred by their own maximum, S stays within [1, length] and no multiplier explodes, however
// far apart the two lines are. With two classes, if the same one is larger in both lines, this is the rescale rule of a
// sigmoid of z_0 - z_1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "assay/model/ops/extremum.h"
#include "assay/model/ops/kernel.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/unary.h"

namespace assay {

// A tensor as lines along one axis: element k of line (i, j) is at (i * length + k) * stride + j, j < stride.
struct SoftmaxLines {
  size_t outer = 0;
  size_t length = 0;
  size_t stride = 1;

  template <class Body>
  void each(const Body& body) const {
    if (length == 0) return;
    for (size_t i = 0; i < outer; i++) {
      for (size_t j = 0; j < stride; j++) body(i * length * stride + j);
    }
  }
};

// The axis of Softmax and LogSoftmax, and the output. Before opset 13 all from `axis` (by default 1) on is one line.
SoftmaxLines softmax_lines(NodeSetup& setup);

// One line of z; element `without` is skipped (none when it is length or more).
template <class T>
struct ExpLine {
  ExpLine(const T* first, size_t line_length, size_t line_stride, size_t left_out = SIZE_MAX)
      : z(first), length(line_length), stride(line_stride), without(left_out) {
    for (size_t k = 0; k < length; k++) {
      if (k != without && z[k * stride] > largest) largest = z[k * stride];
    }
    // Nothing but -infinity: any centre gives the sum of 0.
    if (largest == -std::numeric_limits<T>::infinity()) largest = 0;
    for (size_t k = 0; k < length; k++) sum += k == without ? 0.0 : static_cast<double>(power(k));
  }

  T operator[](size_t k) const { return z[k * stride]; }
  // exp of the centred element.
  T power(size_t k) const { return std::exp(z[k * stride] - largest); }

  const T* z;
  size_t length;
  size_t stride;
  size_t without;
  T largest = -std::numeric_limits<T>::infinity();
  double sum = 0;
};

// Adds to dz what the multipliers of the centred elements (centred_multiplier(k)) and of u itself give the elements of
// z. scratch holds as many float64 as the line has elements.
template <class T, class Multiplier>
void add_centred(const ExpLine<T>& x, const ExpLine<T>& r, double* scratch, const Multiplier& centred_multiplier,
                 double largest_multiplier, T* dz) {
  const T u = x.largest;
  const T u_r = r.largest;
  double to_largest = largest_multiplier;
  double winners = 0;
  for (size_t k = 0; k < x.length; k++) {
    if (k == x.without) continue;
    scratch[k] = centred_multiplier(k);
    to_largest -= scratch[k];
    winners += decides<LargerWins>(x[k], r[k], u, u_r) ? 1 : 0;
  }
  for (size_t k = 0; k < x.length; k++) {
    if (k == x.without) continue;
    double multiplier = scratch[k];
    if (decides<LargerWins>(x[k], r[k], u, u_r)) {
      multiplier += to_largest * static_cast<double>(deciding_multiplier(x[k], r[k], u, u_r)) / winners;
    }
    dz[k * x.stride] += static_cast<T>(multiplier);
  }
}

// The rescale rule of exp at element k, both lines centred.
template <class T>
double power_multiplier(const ExpLine<T>& x, const ExpLine<T>& r, size_t k) {
  const T at = x[k] - x.largest;
  const T at_r = r[k] - r.largest;
  // Masked elements are infinite; they take no part.
  if (!std::isfinite(at - at_r)) return 0;
  return static_cast<double>(
      rescale_multiplier<T>(at, at_r, x.power(k), r.power(k), [](T between) { return std::exp(between); }));
}

// The rescale rule of the logarithm of the sum.
template <class T>
double log_multiplier(const ExpLine<T>& x, const ExpLine<T>& r) {
  return rescale_multiplier<double>(x.sum, r.sum, std::log(x.sum), std::log(r.sum),
                                    [](double between) { return 1 / between; });
}

}  // namespace assay

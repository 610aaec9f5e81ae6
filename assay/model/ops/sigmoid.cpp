// Sigmoid: y = 1 / (1 + exp(-x)), with an exponent that is never positive, so that small y keep their digits.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Sigmoid {
  template <class T>
  T value(T x) const {
    if (x >= T(0)) return T(1) / (T(1) + std::exp(-x));
    const T power = std::exp(x);
    return power / (T(1) + power);
  }
  template <class T>
  T slope(T, T y) const {
    return y * (T(1) - y);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_sigmoid(NodeSetup& setup) { return make_unary(setup, Sigmoid{}); }

}  // namespace assay

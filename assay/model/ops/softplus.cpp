// Softplus: y = log(1 + exp(x)), in the form that neither overflows for large x nor loses the digits of small y.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Softplus {
  template <class T>
  T value(T x) const {
    return (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::abs(x)));
  }
  template <class T>
  T slope(T x, T) const {
    if (x >= T(0)) return T(1) / (T(1) + std::exp(-x));
    const T power = std::exp(x);
    return power / (T(1) + power);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_softplus(NodeSetup& setup) { return make_unary(setup, Softplus{}); }

}  // namespace assay

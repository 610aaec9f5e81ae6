// Erf: y = 2 / sqrt(pi) * the integral of exp(-t^2) from 0 to x.
#include <cmath>
#include <numbers>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Erf {
  template <class T>
  T value(T x) const {
    return std::erf(x);
  }
  template <class T>
  T slope(T x, T) const {
    return T(2) * std::numbers::inv_sqrtpi_v<T> * std::exp(-x * x);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_erf(NodeSetup& setup) { return make_unary(setup, Erf{}); }

}  // namespace assay

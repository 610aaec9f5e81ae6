// Sqrt: y = the square root of x; NaN below 0. Its derivative at 0 is infinite.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Sqrt {
  static constexpr bool kHasGaps = true;
  template <class T>
  T value(T x) const {
    return std::sqrt(x);
  }
  template <class T>
  T slope(T, T y) const {
    return T(0.5) / y;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_sqrt(NodeSetup& setup) { return make_unary(setup, Sqrt{}); }

}  // namespace assay

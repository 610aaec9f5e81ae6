// Reciprocal: y = 1 / x.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Reciprocal {
  static constexpr bool kHasGaps = true;
  template <class T>
  T value(T x) const {
    return T(1) / x;
  }
  template <class T>
  T slope(T, T y) const {
    return -y * y;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_reciprocal(NodeSetup& setup) { return make_unary(setup, Reciprocal{}); }

}  // namespace assay

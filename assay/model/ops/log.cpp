// Log: y = log(x), the natural one; NaN below 0.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Log {
  static constexpr bool kHasGaps = true;
  template <class T>
  T value(T x) const {
    return std::log(x);
  }
  template <class T>
  T slope(T x, T) const {
    return T(1) / x;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_log(NodeSetup& setup) { return make_unary(setup, Log{}); }

}  // namespace assay

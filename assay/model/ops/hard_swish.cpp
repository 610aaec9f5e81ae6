// HardSwish: y = x * max(0, min(1, x / 6 + 1 / 2)) (Howard et al. 2019). Its derivative is taken as 0 at -3 and as 1 at
// 3, as PyTorch does.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct HardSwish {
  template <class T>
  T value(T x) const {
    const T gate = x / T(6) + T(0.5);
    return x * (gate < T(0) ? T(0) : gate > T(1) ? T(1) : gate);
  }
  template <class T>
  T slope(T x, T) const {
    if (x <= T(-3)) return T(0);
    return x >= T(3) ? T(1) : x / T(3) + T(0.5);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_hard_swish(NodeSetup& setup) { return make_unary(setup, HardSwish{}); }

}  // namespace assay

// Relu: y = max(x, 0). Its derivative at 0 is taken as 0, as PyTorch does. NaN stays NaN.
#include "assay/model/ops/leaky.h"

namespace assay {
namespace {

struct Relu {
  template <class T>
  T value(T x) const {
    return x < T(0) ? T(0) : x;
  }
  template <class T>
  T slope(T x, T) const {
    return x > T(0) ? T(1) : T(0);
  }
  float leaky_slope() const { return 0; }
};

}  // namespace

std::unique_ptr<Kernel> make_relu(NodeSetup& setup) { return make_leaky(setup, Relu{}); }

}  // namespace assay

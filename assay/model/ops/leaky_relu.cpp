// LeakyRelu: y = x where x > 0, alpha * x elsewhere. Its derivative at 0 is taken as alpha, as PyTorch does.
#include "assay/model/ops/leaky.h"

namespace assay {
namespace {

struct LeakyRelu {
  float alpha;

  template <class T>
  T value(T x) const {
    return x > T(0) ? x : T(alpha) * x;
  }
  template <class T>
  T slope(T x, T) const {
    return x > T(0) ? T(1) : T(alpha);
  }
  float leaky_slope() const { return alpha; }
};

}  // namespace

std::unique_ptr<Kernel> make_leaky_relu(NodeSetup& setup) {
  return make_leaky(setup, LeakyRelu{setup.real("alpha", 0.01F)});
}

}  // namespace assay

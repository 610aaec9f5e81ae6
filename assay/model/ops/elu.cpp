// Elu: y = x where x > 0, alpha * (exp(x) - 1) elsewhere. Its derivative at 0 is taken as alpha, as PyTorch does.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Elu {
  float alpha;

  template <class T>
  T value(T x) const {
    return x > T(0) ? x : T(alpha) * std::expm1(x);
  }
  template <class T>
  T slope(T x, T) const {
    return x > T(0) ? T(1) : T(alpha) * std::exp(x);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_elu(NodeSetup& setup) { return make_unary(setup, Elu{setup.real("alpha", 1.0F)}); }

}  // namespace assay

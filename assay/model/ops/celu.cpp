// Celu: y = max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron 2017). alpha = 0 is refused: it divides.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Celu {
  float alpha;

  template <class T>
  T value(T x) const {
    return x > T(0) ? x : T(alpha) * std::expm1(x / T(alpha));
  }
  template <class T>
  T slope(T x, T) const {
    return x > T(0) ? T(1) : std::exp(x / T(alpha));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_celu(NodeSetup& setup) {
  const float alpha = setup.real("alpha", 1.0F);
  if (!(alpha < 0) && !(alpha > 0)) setup.fail("attribute 'alpha' must be a number other than 0");
  return make_unary(setup, Celu{alpha});
}

}  // namespace assay

// Selu: y = gamma * x where x > 0, gamma * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017). Its derivative at 0
// is taken as gamma * alpha, as PyTorch does.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Selu {
  float alpha;
  float gamma;

  template <class T>
  T value(T x) const {
    return T(gamma) * (x > T(0) ? x : T(alpha) * std::expm1(x));
  }
  template <class T>
  T slope(T x, T) const {
    return T(gamma) * (x > T(0) ? T(1) : T(alpha) * std::exp(x));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_selu(NodeSetup& setup) {
  return make_unary(
      setup, Selu{setup.real("alpha", 1.67326319217681884765625F), setup.real("gamma", 1.05070102214813232421875F)});
}

}  // namespace assay

// HardSigmoid: y = max(0, min(1, alpha * x + beta)). Its derivative at both kinks is taken as 0, as PyTorch does.
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct HardSigmoid {
  float alpha;
  float beta;

  template <class T>
  T value(T x) const {
    const T line = T(alpha) * x + T(beta);
    return line < T(0) ? T(0) : line > T(1) ? T(1) : line;
  }
  template <class T>
  T slope(T, T y) const {
    return y > T(0) && y < T(1) ? T(alpha) : T(0);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_hard_sigmoid(NodeSetup& setup) {
  return make_unary(setup, HardSigmoid{setup.real("alpha", 0.2F), setup.real("beta", 0.5F)});
}

}  // namespace assay

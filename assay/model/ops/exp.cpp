// Exp: y = exp(x).
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Exp {
  template <class T>
  T value(T x) const {
    return std::exp(x);
  }
  template <class T>
  T slope(T, T y) const {
    return y;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_exp(NodeSetup& setup) { return make_unary(setup, Exp{}); }

}  // namespace assay

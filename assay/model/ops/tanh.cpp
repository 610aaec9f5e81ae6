// Tanh: y = tanh(x).
#include <cmath>

#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Tanh {
  template <class T>
  T value(T x) const {
    return std::tanh(x);
  }
  template <class T>
  T slope(T, T y) const {
    return T(1) - y * y;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_tanh(NodeSetup& setup) { return make_unary(setup, Tanh{}); }

}  // namespace assay

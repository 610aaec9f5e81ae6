// Greater: whether a > b, for numbers of one type, broadcast. False where either is NaN.
#include "assay/model/ops/broadcast.h"

namespace assay {
namespace {

struct Greater {
  static constexpr bool kAnyType = false;
  template <class T>
  bool value(T a, T b) const {
    return a > b;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_greater(NodeSetup& setup) { return make_comparison<Greater>(setup); }

}  // namespace assay

// Equal: whether a == b, for values of one type (numbers, truth values, text), broadcast. NaN equals nothing.
#include "assay/model/ops/broadcast.h"

namespace assay {
namespace {

struct Equal {
  static constexpr bool kAnyType = true;
  template <class T>
  bool value(const T& a, const T& b) const {
    return a == b;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_equal(NodeSetup& setup) { return make_comparison<Equal>(setup); }

}  // namespace assay

// Neg: y = -x, for floating and signed types; the smallest integer stays itself.
#include <concepts>

#include "assay/model/ops/integer_unary.h"

namespace assay {
namespace {

struct Same {
  template <class T>
  T value(T x) const {
    return x;
  }
  template <class T>
  T slope(T, T) const {
    return T(1);
  }
};

struct Neg {
  using Absolute = Same;
  template <class T>
  T value(T x) const {
    if constexpr (std::integral<T>) {
      return wrapped_negative(x);
    } else {
      return -x;
    }
  }
  template <class T>
  T slope(T, T) const {
    return T(-1);
  }
};

bool is_signed_integer(OnnxElement type) {
  return type == OnnxElement::int8 || type == OnnxElement::int16 || type == OnnxElement::int32 ||
         type == OnnxElement::int64;
}

}  // namespace

std::unique_ptr<Kernel> make_neg(NodeSetup& setup) {
  return make_numeric_unary<Neg>(setup, "a signed number", is_signed_integer);
}

}  // namespace assay

// Abs: y = |x|, for all numbers; the smallest integer stays itself. Its derivative at 0 is taken as 0, as PyTorch does.
#include <cmath>
#include <concepts>

#include "assay/model/ops/integer_unary.h"

namespace assay {
namespace {

struct Abs {
  template <class T>
  T value(T x) const {
    if constexpr (std::unsigned_integral<T>) {
      return x;
    } else if constexpr (std::integral<T>) {
      return x < 0 ? wrapped_negative(x) : x;
    } else {
      return std::abs(x);
    }
  }
  template <class T>
  T slope(T x, T) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_abs(NodeSetup& setup) {
  return make_numeric_unary<Abs>(
      setup, "a number", [](OnnxElement type) { return type != OnnxElement::string && type != OnnxElement::boolean; });
}

}  // namespace assay

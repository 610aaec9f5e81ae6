// Div: y = a / b, broadcast. Integers are truncated towards 0; divided by 0 they give 0, and the smallest one divided
// by -1 wraps around to itself, where the hardware would trap.
//
// DeepLift: a product of a and 1 / b. The multiplier of the latter is (1 / b - 1 / b') / (b - b') = -1 / (b * b').
#include <limits>
#include <type_traits>

#include "assay/model/ops/broadcast.h"

namespace assay {
namespace {

struct Div {
  template <class T>
  T value(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == T(0)) return T(0);
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1) && a == std::numeric_limits<T>::min()) return a;
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
  static std::optional<std::vector<size_t>> coefficients(const std::vector<bool>& changes) {
    if (changes[1]) return {};
    return std::vector<size_t>{1};
  }
  template <class T>
  T slope_a(const Operands<T, T>& x) const {
    return T(1) / x.b;
  }
  template <class T>
  T slope_b(const Operands<T, T>& x) const {
    return -x.y / x.b;
  }
  template <class T>
  T multiplier_a(const Operands<T, T>& x, const Operands<T, T>& reference) const {
    return T(0.5) / x.b + T(0.5) / reference.b;
  }
  template <class T>
  T multiplier_b(const Operands<T, T>& x, const Operands<T, T>& reference) const {
    // Two quotients, for the product of the divisors may leave the range of T.
    return -(T(0.5) * x.a + T(0.5) * reference.a) / x.b / reference.b;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_div(NodeSetup& setup) { return make_arithmetic<Div>(setup); }

}  // namespace assay

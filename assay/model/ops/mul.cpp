// Mul: y = a * b, broadcast. Integers wrap around.
//
// DeepLift: a * b - a' * b' = (b + b') / 2 * (a - a') + (a + a') / 2 * (b - b'), which treats both factors alike.
#include <cstdint>
#include <type_traits>

#include "assay/model/ops/broadcast.h"

namespace assay {
namespace {

struct Mul {
  template <class T>
  T value(T a, T b) const {
    // In unsigned 64 bits, for overflow of signed types is undefined and small types become int.
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  }
  static std::optional<std::vector<size_t>> coefficients(const std::vector<bool>& changes) {
    if (changes[0] && changes[1]) return {};
    return std::vector<size_t>{changes[0] ? size_t{1} : size_t{0}};
  }
  template <class T>
  T slope_a(const Operands<T, T>& x) const {
    return x.b;
  }
  template <class T>
  T slope_b(const Operands<T, T>& x) const {
    return x.a;
  }
  template <class T>
  T multiplier_a(const Operands<T, T>& x, const Operands<T, T>& reference) const {
    return T(0.5) * x.b + T(0.5) * reference.b;
  }
  template <class T>
  T multiplier_b(const Operands<T, T>& x, const Operands<T, T>& reference) const {
    return T(0.5) * x.a + T(0.5) * reference.a;
  }
};

}  // namespace

std::unique_ptr<Kernel> make_mul(NodeSetup& setup) { return make_arithmetic<Mul>(setup); }

}  // namespace assay

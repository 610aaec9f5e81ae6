// Sub: y = a - b, broadcast. Integers wrap around.
#include <cstdint>
#include <type_traits>

#include "assay/model/ops/broadcast.h"

namespace assay {
namespace {

// |a| and |-b| add up.
struct AbsoluteSum {
  template <class T>
  T value(T a, T b) const {
    return a + b;
  }
  template <class T>
  T slope_a(const Operands<T, T>&) const {
    return T(1);
  }
  template <class T>
  T slope_b(const Operands<T, T>&) const {
    return T(1);
  }
};

struct Sub {
  using Absolute = AbsoluteSum;
  static std::optional<std::vector<size_t>> coefficients(const std::vector<bool>&) { return std::vector<size_t>{}; }
  template <class T>
  T value(T a, T b) const {
    // In unsigned 64 bits, for overflow of signed types is undefined and small types become int.
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    } else {
      return a - b;
    }
  }
  template <class T>
  T slope_a(const Operands<T, T>&) const {
    return T(1);
  }
  template <class T>
  T slope_b(const Operands<T, T>&) const {
    return T(-1);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_sub(NodeSetup& setup) { return make_arithmetic<Sub>(setup); }

}  // namespace assay

// Pow: y = a to the power b, broadcast; a is FLOAT, DOUBLE, INT32 or INT64 and gives y its type, b is any number.
//
// Powers of integers by integers wrap around, and by negative ones are truncated towards 0 (0 for a = 0); by floating
// ones they are computed in float64 and brought into range. The derivative by b is log(a) * y, and 0 at a = 0 for b >=
// 0 as in PyTorch; NaN for a < 0.
//
// DeepLift: a changes first and then b, or b first and then a; the average over both orders, each part divided by the
// difference of its input. For an exponent that does not change this is the rescale rule.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "assay/model/ops/by_element.h"

namespace assay {
namespace {

template <class T, class Exponent>
T integer_power(T base, Exponent exponent) {
  if constexpr (std::is_signed_v<Exponent>) {
    if (exponent < 0) return base == 1 || (base == -1 && exponent % 2 == 0) ? T(1) : base == -1 ? T(-1) : T(0);
  }
  uint64_t power = 1;
  auto square = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left > 0; left /= 2) {
    if (left % 2 == 1) power *= square;
    square *= square;
  }
  return static_cast<T>(power);
}

template <class T>
T into_range(double value) {
  if (std::isnan(value)) return T(0);
  // The limits as float64 may lie one step outside T.
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

struct Pow {
  template <class A, class B>
  A value(A a, B b) const {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
      return integer_power(a, b);
    } else if constexpr (std::is_integral_v<A>) {
      return into_range<A>(std::pow(static_cast<double>(a), double{b}));
    } else {
      // Squares are frequent (in layer normalisation), and this is exact.
      if (b == B(2)) return a * a;
      if constexpr (std::is_same_v<A, B>) return std::pow(a, b);
      return static_cast<A>(std::pow(double{a}, static_cast<double>(b)));
    }
  }
  template <class B>
  static bool gaps_a(B b) {
    if constexpr (std::is_floating_point_v<B>) return b < B(0) || b != std::trunc(b);
    return b < B(0);
  }
  template <class A>
  static bool gaps_b(A a) {
    return a <= A(0);
  }
  template <class A, class B>
  A slope_a(const Operands<A, B>& x) const {
    return base_slope(x.a, x.b);
  }
  template <class A, class B>
  B slope_b(const Operands<A, B>& x) const {
    return exponent_slope(x.a, x.b);
  }
  template <class A, class B>
  A multiplier_a(const Operands<A, B>& x, const Operands<A, B>& r) const {
    const auto along_a = [&](B b, A y, A y_r) {
      return rescale_multiplier<A>(x.a, r.a, y, y_r, [&](A between) { return base_slope(between, b); });
    };
    if (x.b == r.b) return along_a(x.b, x.y, r.y);
    return A(0.5) * (along_a(r.b, value(x.a, r.b), r.y) + along_a(x.b, x.y, value(r.a, x.b)));
  }
  template <class A, class B>
  B multiplier_b(const Operands<A, B>& x, const Operands<A, B>& r) const {
    if constexpr (std::is_floating_point_v<B>) {
      const auto along_b = [&](A a, A y, A y_r) {
        return rescale_multiplier<B>(x.b, r.b, static_cast<B>(y), static_cast<B>(y_r),
                                     [&](B between) { return exponent_slope(a, between); });
      };
      // Powers of negative numbers have no slope here; where nothing changes, none is needed.
      if (x.b == r.b && (x.a < A(0) || r.a < A(0))) return B(0);
      return B(0.5) * (along_b(r.a, value(r.a, x.b), r.y) + along_b(x.a, x.y, value(x.a, r.b)));
    } else {
      return B(0);
    }
  }

 private:
  template <class A, class B>
  A base_slope(A a, B b) const {
    if (b == B(0)) return A(0);
    if (b == B(2)) return A(2) * a;
    if constexpr (std::is_same_v<A, B>) return b * std::pow(a, b - B(1));
    return static_cast<A>(static_cast<double>(b) * std::pow(double{a}, static_cast<double>(b) - 1));
  }
  template <class A, class B>
  B exponent_slope(A a, B b) const {
    if constexpr (std::is_floating_point_v<B>) {
      if (a == A(0) && b >= B(0)) return B(0);
      return static_cast<B>(std::log(a) * value(a, b));
    } else {
      return B(0);
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> make_pow(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  expect_numbers(setup, 0, 2);
  const OnnxElement type = setup.input(0).type;
  if (!is_floating(type) && type != OnnxElement::int32 && type != OnnxElement::int64) {
    setup.fail(fmt::format("input 1 must be FLOAT, DOUBLE, INT32 or INT64, found {}", onnx_type_name(type)));
  }
  BroadcastLoops<2> loops = binary_loops(setup, type);
  return with_element(type, [&]<class A>() {
    return with_element(setup.input(1).type, [&]<class B>() -> std::unique_ptr<Kernel> {
      constexpr bool kBase = std::is_floating_point_v<A> || std::is_same_v<A, int32_t> || std::is_same_v<A, int64_t>;
      if constexpr (kBase && std::is_arithmetic_v<B> && !std::is_same_v<B, bool>) {
        return std::make_unique<BinaryByElement<Pow, A, B>>(std::move(loops));
      }
      return nullptr;
    });
  });
}

}  // namespace assay

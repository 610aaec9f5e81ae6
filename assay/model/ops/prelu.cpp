// PRelu: y = x where x > 0, slope * x elsewhere; slope broadcasts to x, never x to slope. The derivative by x at 0 is
// taken as the slope, as PyTorch does. Integers wrap around.
//
// DeepLift: y = max(x, 0) + slope * min(x, 0): the rescale rule for both parts of x, and the product rule, with which
// (min(x, 0) + min(x', 0)) / 2 is the multiplier of the slope.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "assay/model/ops/by_element.h"

namespace assay {
namespace {

struct PRelu {
  template <class T>
  T value(T x, T slope) const {
    if (x > T(0)) return x;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(slope));
    } else {
      return x * slope;
    }
  }
  template <class T>
  static bool gaps_a(T) {
    return false;
  }
  template <class T>
  T slope_a(const Operands<T, T>& at) const {
    return at.a > T(0) ? T(1) : at.b;
  }
  template <class T>
  T slope_b(const Operands<T, T>& at) const {
    return at.a > T(0) ? T(0) : at.a;
  }
  template <class T>
  T multiplier_a(const Operands<T, T>& at, const Operands<T, T>& reference) const {
    const T slope = T(0.5) * at.b + T(0.5) * reference.b;
    const T share = rescale_multiplier<T>(at.a, reference.a, std::max(at.a, T(0)), std::max(reference.a, T(0)),
                                          [](T between) { return between > T(0) ? T(1) : T(0); });
    return share + (T(1) - share) * slope;
  }
  template <class T>
  T multiplier_b(const Operands<T, T>& at, const Operands<T, T>& reference) const {
    return T(0.5) * std::min(at.a, T(0)) + T(0.5) * std::min(reference.a, T(0));
  }
};

}  // namespace

std::unique_ptr<Kernel> make_prelu(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  const Shape& dims = setup.input(0).dims;
  if (broadcast_dims(setup, 0, 2) != dims) {
    setup.fail(fmt::format("the dimensions of the slope ({}) do not broadcast to those of the input ({})",
                           onnx_shape_text(setup.input(1).dims), onnx_shape_text(dims)));
  }
  return make_arithmetic<PRelu, BinaryByElement>(setup);
}

}  // namespace assay

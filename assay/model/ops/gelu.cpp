// Gelu: y = x * Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016); with approximate = "tanh"
// y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
#include <cmath>
#include <numbers>

#include "assay/core/text.h"
#include "assay/model/ops/unary.h"

namespace assay {
namespace {

struct Gelu {
  template <class T>
  static T distribution(T x) {
    // Not (1 + erf) / 2, which has no digits left for x far below 0.
    return T(0.5) * std::erfc(-x / std::numbers::sqrt2_v<T>);
  }
  template <class T>
  T value(T x) const {
    return x * distribution(x);
  }
  template <class T>
  T slope(T x, T) const {
    const T density = std::exp(T(-0.5) * x * x) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    return distribution(x) + x * density;
  }
};

struct TanhGelu {
  template <class T>
  static constexpr T kScale = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  template <class T>
  static constexpr T kCubic = T(0.044715);

  template <class T>
  static T gate(T x) {
    return std::tanh(kScale<T> * (x + kCubic<T> * x * x * x));
  }
  template <class T>
  T value(T x) const {
    return T(0.5) * x * (T(1) + gate(x));
  }
  template <class T>
  T slope(T x, T) const {
    const T open = gate(x);
    return T(0.5) * (T(1) + open) + T(0.5) * x * (T(1) - open * open) * kScale<T> * (T(1) + T(3) * kCubic<T> * x * x);
  }
};

}  // namespace

std::unique_ptr<Kernel> make_gelu(NodeSetup& setup) {
  const std::string approximate = setup.text("approximate", "none");
  if (approximate == "none") return make_unary(setup, Gelu{});
  if (approximate == "tanh") return make_unary(setup, TanhGelu{});
  setup.fail("attribute 'approximate' must be 'none' or 'tanh', found " + in_quotes(approximate));
}

}  // namespace assay

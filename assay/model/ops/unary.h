// Operators that map each element by one function of one variable.
//
// An operator's file gives the function and its derivative; this header makes the rest of it, for float32 and float64:
//   forward   y = f(x)
//   backward  dx += f'(x) dy
//   rescale   the DeepLift multiplier (f(x) - f(r)) / (x - r), and f' half way between where x and r are too near for
//             a quotient (Shrikumar, Greenside, Kundaje 2017, section 3.5.1, the Rescale rule)
//   reveal    the RevealCancel rule (section 3.5.3), for the parts d+ + d- = x - r (graph/reveal.cpp):
//             (f(r + d+) - f(r) + f(x) - f(r + d-)) / 2 of f(x) - f(r) is due to d+, the rest to d-
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "assay/model/ops/kernel.h"
#include "assay/model/ops/node_setup.h"

namespace assay {

// Elementwise on any buffer of float32, so that fused kernels can use it on theirs.
class UnaryKernel : public Kernel {
 public:
  virtual void apply(const float* x, float* y, size_t count) const = 0;
  // dx = f'(x) dy; y is f(x); dx may be dy itself.
  virtual void pull_back(const float* x, const float* y, const float* dy, float* dx, size_t count) const = 0;
  // dx = multiplier dy for x and y = f(x), and the same at a reference; dx may be dy itself.
  virtual void rescale_back(const float* x, const float* y, const float* reference, const float* y_reference,
                            const float* dy, float* dx, size_t count) const = 0;
  // RevealCancel for values of the kernel's type. spread is d+ - d-, of x and of y.
  virtual void spread(const Buffers& values, const Buffers& reference, const void* spread_x, void* spread_y) const = 0;
  // mean and contrast: (m+ + m-) / 2 and (m+ - m-) / 2 of the multipliers of both parts; of y (given) and x (added to).
  virtual void reveal(const Buffers& values, const Buffers& reference, const void* spread_x, const Gradients& mean,
                      const Gradients& contrast) const = 0;
  // For f(x) = x where x > 0 and slope * x elsewhere: the slope; NaN for every other function.
  virtual float leaky_slope() const { return std::numeric_limits<float>::quiet_NaN(); }
  const UnaryKernel* unary() const override { return this; }
};

// (y - y_reference) / (x - reference), or the slope half way between where that quotient would be mostly rounding.
template <class T, class Slope>
T rescale_multiplier(T x, T reference, T y, T y_reference, const Slope& slope) {
  const T difference = x - reference;
  // Below this the rounding of y would be a large share of the quotient.
  const T near = T(64) * std::numeric_limits<T>::epsilon() * (std::abs(x) + std::abs(reference) + T(1e-3));
  if (std::abs(difference) > near) return (y - y_reference) / difference;
  return slope(reference + difference / 2);
}

// What RevealCancel makes of one element.
template <class T>
struct RevealedParts {
  T spread_y;                           // y+ - y-
  T multiplier_plus, multiplier_minus;  // y+ / d+, y- / d-
  bool joined;                          // not separated: y+ or y- is the whole difference, by its sign
};

// `ways`: whether f may be evaluated at r + d+ and r + d-, which need not lie between r and x.
template <class T, class Function>
RevealedParts<T> reveal_parts(const Function& f, bool ways, T x, T reference, T y, T y_reference, T spread) {
  const T plus = (x - reference + spread) / 2;
  const T minus = (x - reference - spread) / 2;
  const auto slope = [&](T at) { return f.template slope<T>(at, f.template value<T>(at)); };
  if (ways) {
    const T y_plus = f.template value<T>(reference + plus);
    const T y_minus = f.template value<T>(reference + minus);
    const T spread_y = y_plus - y_minus;
    if (std::isfinite(spread_y)) {
      const T total = y - y_reference;
      // Below this the rounding of x and y would be a large share of the quotient.
      const T near =
          T(64) * std::numeric_limits<T>::epsilon() * (std::abs(x) + std::abs(reference) + std::abs(spread) + T(1e-3));
      // The mean of the slopes on both ways: d+ before d-, and after.
      const auto limit = [&](T part, T other) {
        return (slope(reference + part / 2) + slope(reference + other + part / 2)) / 2;
      };
      return {spread_y, std::abs(plus) > near ? (total + spread_y) / 2 / plus : limit(plus, minus),
              std::abs(minus) > near ? (total - spread_y) / 2 / minus : limit(minus, plus), false};
    }
  }
  const T multiplier = rescale_multiplier<T>(x, reference, y, y_reference, slope);
  return {std::abs(y - y_reference), multiplier, multiplier, true};
}

// Adds to mean and contrast of x what those of y and these parts give; total: the difference of y.
template <class T>
void add_revealed(const RevealedParts<T>& parts, T total, T mean_y, T contrast_y, T& mean_x, T& contrast_x) {
  if (parts.joined) {
    const T by_sign = total > 0 ? contrast_y : total < 0 ? -contrast_y : T(0);
    mean_x += (mean_y + by_sign) * parts.multiplier_plus;
    return;
  }
  const T plus = (mean_y + contrast_y) * parts.multiplier_plus;
  const T minus = (mean_y - contrast_y) * parts.multiplier_minus;
  mean_x += (plus + minus) / 2;
  contrast_x += (plus - minus) / 2;
}

// Function: `template <class T> T value(T x) const` and `template <class T> T slope(T x, T y) const` with y = value(x).
// `kHasGaps = true`: f is not defined or not continuous everywhere (Log). RevealCancel would evaluate it beyond x and
// the reference, so the Rescale rule takes its place. `Absolute`: for a linear f, that with the absolute coefficient.
template <class Function>
class UnaryOf final : public UnaryKernel {
 public:
  UnaryOf(Function function, OnnxElement type, size_t count)
      : function_(std::move(function)), type_(type), count_(count) {}

  void forward(const Buffers& values) const override {
    typed([&]<class T>() {
      const T* x = values.in<T>(0);
      T* y = values.out<T>(0);
      for (size_t i = 0; i < count_; i++) y[i] = function_.template value<T>(x[i]);
    });
  }
  bool differentiable(size_t) const override { return true; }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    typed([&]<class T>() {
      const T* x = values.in<T>(0);
      const T* y = values.out<T>(0);
      const T* dy = gradients.out<T>(0);
      T* dx = gradients.in<T>(0);
      for (size_t i = 0; i < count_; i++) dx[i] += function_.template slope<T>(x[i], y[i]) * dy[i];
    });
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    typed([&]<class T>() {
      const T* x = values.in<T>(0);
      const T* y = values.out<T>(0);
      const T* r = reference.in<T>(0);
      const T* y_r = reference.out<T>(0);
      const T* dy = multipliers.out<T>(0);
      T* dx = multipliers.in<T>(0);
      const auto slope = [&](T at) { return function_.template slope<T>(at, function_.template value<T>(at)); };
      for (size_t i = 0; i < count_; i++) dx[i] += rescale_multiplier<T>(x[i], r[i], y[i], y_r[i], slope) * dy[i];
    });
  }
  void spread(const Buffers& values, const Buffers& reference, const void* spread_x, void* spread_y) const override {
    typed([&]<class T>() {
      for_parts<T>(values, reference, spread_x,
                   [&](size_t i, const RevealedParts<T>& parts, T) { static_cast<T*>(spread_y)[i] = parts.spread_y; });
    });
  }
  void reveal(const Buffers& values, const Buffers& reference, const void* spread_x, const Gradients& mean,
              const Gradients& contrast) const override {
    typed([&]<class T>() {
      const T *mean_y = mean.out<T>(0), *contrast_y = contrast.out<T>(0);
      T *mean_x = mean.in<T>(0), *contrast_x = contrast.in<T>(0);
      for_parts<T>(values, reference, spread_x, [&](size_t i, const RevealedParts<T>& parts, T total) {
        add_revealed(parts, total, mean_y[i], contrast_y[i], mean_x[i], contrast_x[i]);
      });
    });
  }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override {
    if constexpr (requires { typename Function::Absolute; }) {
      using Absolute = typename Function::Absolute;
      return AffineForm{.absolute = std::make_shared<UnaryOf<Absolute>>(Absolute{}, type_, count_)};
    }
    return {};
  }
  void apply(const float* x, float* y, size_t count) const override {
    for (size_t i = 0; i < count; i++) y[i] = function_.template value<float>(x[i]);
  }
  void pull_back(const float* x, const float* y, const float* dy, float* dx, size_t count) const override {
    for (size_t i = 0; i < count; i++) dx[i] = function_.template slope<float>(x[i], y[i]) * dy[i];
  }
  void rescale_back(const float* x, const float* y, const float* reference, const float* y_reference, const float* dy,
                    float* dx, size_t count) const override {
    const auto slope = [&](float at) {
      return function_.template slope<float>(at, function_.template value<float>(at));
    };
    for (size_t i = 0; i < count; i++) {
      dx[i] = rescale_multiplier<float>(x[i], reference[i], y[i], y_reference[i], slope) * dy[i];
    }
  }
  float leaky_slope() const override {
    if constexpr (requires { function_.leaky_slope(); }) return function_.leaky_slope();
    return UnaryKernel::leaky_slope();
  }

 private:
  template <class Body>
  void typed(const Body& body) const {
    if (type_ == OnnxElement::float64) {
      body.template operator()<double>();
    } else {
      body.template operator()<float>();
    }
  }

  // Calls body(element, its parts, difference of y) for all.
  template <class T, class Body>
  void for_parts(const Buffers& values, const Buffers& reference, const void* spread, const Body& body) const {
    constexpr bool kWays = !requires { Function::kHasGaps; };
    const T *x = values.in<T>(0), *r = reference.in<T>(0);
    const T *y = values.out<T>(0), *y_r = reference.out<T>(0);
    const T* spread_x = static_cast<const T*>(spread);
    for (size_t i = 0; i < count_; i++) {
      body(i, reveal_parts<T>(function_, kWays, x[i], r[i], y[i], y_r[i], spread_x[i]), y[i] - y_r[i]);
    }
  }

  Function function_;
  OnnxElement type_;
  size_t count_;
};

// One floating input, one output like it.
template <class Function>
std::unique_ptr<Kernel> make_unary(NodeSetup& setup, Function function) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& x = setup.floating_input(0);
  setup.set_output(0, x.type, x.dims);
  return std::make_unique<UnaryOf<Function>>(std::move(function), x.type, x.count());
}

}  // namespace assay

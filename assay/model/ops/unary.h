// Operators that map each element by one function of one variable.
//
// An operator's file gives the function and its derivative; this header makes the rest of it, for float32 and float64:
//   forward   y = f(x)
//   backward  dx += f'(x) dy
//   rescale   the DeepLift multiplier (f(x) - f(r)) / (x - r), and f' half way between where x and r are too near for
//             a quotient (Shrikumar, Greenside, Kundaje 2017, section 3.5.1, the Rescale rule)
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
  // For f(x) = x where x > 0 and slope * x elsewhere: the slope; NaN for every other function.
  virtual float leaky_slope() const { return std::numeric_limits<float>::quiet_NaN(); }
  const UnaryKernel* unary() const override { return this; }
};

// The quotient of differences, or the slope between where it has no digits left.
template <class T, class Slope>
T rescale_multiplier(T x, T reference, T y, T y_reference, const Slope& slope) {
  const T difference = x - reference;
  // Below this the rounding of y would be a large share of the quotient.
  const T near = T(64) * std::numeric_limits<T>::epsilon() * (std::abs(x) + std::abs(reference) + T(1e-3));
  if (std::abs(difference) > near) return (y - y_reference) / difference;
  return slope(reference + difference / 2);
}

// Function: `template <class T> T value(T x) const` and `template <class T> T slope(T x, T y) const` with y = value(x).
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

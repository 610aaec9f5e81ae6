// Max and Min of any number of inputs, broadcast. NaN wins, as in NumPy.
//
// Gradients: inputs that are equal share the derivative evenly, as in torch.maximum.
// DeepLift (for Max; Min is its mirror): where y >= y' the difference y - y' goes to the input that wins at x,
// elsewhere to the one that wins at the reference, so that no multiplier leaves [0, 1] (as shap does for max pooling).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/model/ops/by_element.h"

namespace assay {

struct LargerWins {
  template <class T>
  static bool beats(T a, T b) {
    return a > b;
  }
};
struct SmallerWins {
  template <class T>
  static bool beats(T a, T b) {
    return a < b;
  }
};

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

template <class Order, class T>
T extremum(T a, T b) {
  return Order::beats(b, a) || is_nan(b) ? b : a;
}

// Whether the difference y - y_reference goes to this input, which is x, and `reference` at the reference; and its
// multiplier, before equal inputs share it.
template <class Order, class T>
bool decides(T x, T reference, T y, T y_reference) {
  const T own = Order::beats(y_reference, y) ? reference : x;
  const T extreme = Order::beats(y_reference, y) ? y_reference : y;
  return own == extreme || is_nan(own);
}
template <class T>
T deciding_multiplier(T x, T reference, T y, T y_reference) {
  return rescale_multiplier<T>(x, reference, y, y_reference, [](T) { return T(1); });
}

template <class Order, class T>
class ExtremumOf final : public Kernel, public ByElementOf<ExtremumOf<Order, T>, T> {
 public:
  ExtremumOf(std::vector<BroadcastLoops<1>> inputs, size_t count, size_t scratch)
      : inputs_(std::move(inputs)), count_(count), scratch_(scratch) {}

  bool differentiable(size_t) const override { return std::is_floating_point_v<T>; }
  size_t scratch_bytes() const override { return scratch_; }

  void forward(const Buffers& values) const override {
    T* y = values.out<T>(0);
    for (size_t k = 0; k < inputs_.size(); k++) {
      const T* x = values.in<T>(k);
      const bool first = k == 0;
      each(k, [&](size_t i, size_t j) { y[j] = first ? x[i] : extremum<Order>(y[j], x[i]); });
    }
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* y = values.out<T>(0);
      const auto wins = [&](size_t k, size_t i, size_t j) {
        const T x = values.in<T>(k)[i];
        return x == y[j] || is_nan(x);
      };
      add(values, gradients, wins, [](size_t, size_t, size_t) { return T(1); });
    }
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* y = values.out<T>(0);
      const T* y_r = reference.out<T>(0);
      const auto wins = [&](size_t k, size_t i, size_t j) {
        return decides<Order>(values.in<T>(k)[i], reference.in<T>(k)[i], y[j], y_r[j]);
      };
      add(values, multipliers, wins, [&](size_t k, size_t i, size_t j) {
        return deciding_multiplier(values.in<T>(k)[i], reference.in<T>(k)[i], y[j], y_r[j]);
      });
    }
  }

  bool by_element(size_t) const override { return std::is_floating_point_v<T>; }
  template <class Body>
  void sections(size_t input, const Buffers& values, const Body& body) const {
    using Limits = std::numeric_limits<T>;
    T* bounds = reinterpret_cast<T*>(values.scratch);
    std::fill_n(bounds, count_, Order::beats(T(1), T(0)) ? -Limits::infinity() : Limits::infinity());
    for (size_t k = 0; k < inputs_.size(); k++) {
      if (k == input) continue;
      const T* x = values.in<T>(k);
      each(k, [&](size_t i, size_t j) { bounds[j] = extremum<Order>(bounds[j], x[i]); });
    }
    for (size_t j = 0; j < count_; j++) body(j, Bounded{bounds[j]});
  }

 private:
  // The extremum of one input and a bound, which is the extremum of the others.
  struct Bounded {
    T bound;
    template <class X>
    X value(X x) const {
      return extremum<Order>(x, bound);
    }
    template <class X>
    X slope(X x, X) const {
      return Order::beats(x, bound) ? X(1) : x == bound ? X(0.5) : X(0);
    }
    bool has_gaps() const { return false; }
  };

  // Calls body(index in input k, index in the output).
  template <class Body>
  void each(size_t k, const Body& body) const {
    const bool moves = inputs_[k].run_strides()[0] != 0;
    inputs_[k].runs([&](const auto& at, size_t output, size_t length) {
      const size_t start = at[0];
      if (moves) {
        for (size_t i = 0; i < length; i++) body(start + i, output + i);
      } else {
        for (size_t i = 0; i < length; i++) body(start, output + i);
      }
    });
  }
  template <class Wins, class Partial>
  void add(const Buffers& values, const Gradients& gradients, const Wins& wins, const Partial& partial) const {
    const T* dy = gradients.out<T>(0);
    if (dy == nullptr) return;
    T* winners = reinterpret_cast<T*>(values.scratch);
    for (size_t j = 0; j < count_; j++) winners[j] = 0;
    for (size_t k = 0; k < inputs_.size(); k++) {
      each(k, [&](size_t i, size_t j) { winners[j] += wins(k, i, j) ? T(1) : T(0); });
    }
    for (size_t k = 0; k < inputs_.size(); k++) {
      T* dx = gradients.in<T>(k);
      if (dx == nullptr) continue;
      each(k, [&](size_t i, size_t j) { dx[i] += wins(k, i, j) ? partial(k, i, j) / winners[j] * dy[j] : T(0); });
    }
  }

  std::vector<BroadcastLoops<1>> inputs_;
  size_t count_;
  size_t scratch_;
};

template <class Order>
std::unique_ptr<Kernel> make_extremum(NodeSetup& setup) {
  setup.expect_inputs(1, SIZE_MAX);
  setup.expect_outputs(1, 1);
  // Inputs that are left out at the end do not count.
  size_t given = setup.input_count();
  while (!setup.has_input(given - 1)) given--;
  expect_numbers(setup, 0, given);
  expect_one_type(setup, 0, given);
  const OnnxElement type = setup.input(0).type;
  const Shape dims = broadcast_dims(setup, 0, given);
  setup.set_output(0, type, dims);
  const size_t count = element_count(dims);
  std::vector<BroadcastLoops<1>> inputs;
  for (size_t k = 0; k < given; k++) inputs.emplace_back(dims, std::array{&setup.input(k).dims});
  return with_element(type, [&]<class T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      const size_t scratch = is_floating(type) ? setup.checked_bytes(count, sizeof(T)) : 0;
      return std::make_unique<ExtremumOf<Order, T>>(std::move(inputs), count, scratch);
    }
    return nullptr;
  });
}

}  // namespace assay

// Operators of several inputs that become a function of one variable, element by element, where all inputs but one are
// constants: PRelu, Max and Min with a bound, Pow. DeepLift's RevealCancel then takes its rule for functions (unary.h),
// so that a ReLU has the same parts however a graph spells it.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "assay/model/ops/broadcast.h"
#include "assay/model/ops/unary.h"

namespace assay {

// A second base of such kernels. `input` is the one that changes; it has as many elements as the output. The rest is
// as in UnaryKernel.
class ByElement {
 public:
  virtual ~ByElement() = default;
  virtual bool by_element(size_t input) const = 0;
  virtual void spread(size_t input, const Buffers& values, const Buffers& reference, const void* spread_x,
                      void* spread_y) const = 0;
  virtual void reveal(size_t input, const Buffers& values, const Buffers& reference, const void* spread_x,
                      const Gradients& mean, const Gradients& contrast) const = 0;
};

// Own: the kernel, with a public `sections(input, values, body)` that calls body(element, function) for each element of
// the output; function maps the changing input to the output there, as UnaryOf takes it, but with `bool has_gaps()
// const` in place of kHasGaps.
template <class Own, class T>
class ByElementOf : public ByElement {
  friend Own;
  ByElementOf() = default;

 public:
  void spread(size_t input, const Buffers& values, const Buffers& reference, const void* spread_x,
              void* spread_y) const override {
    for_parts(input, values, reference, spread_x,
              [&](size_t i, const RevealedParts<T>& parts, T) { static_cast<T*>(spread_y)[i] = parts.spread_y; });
  }
  void reveal(size_t input, const Buffers& values, const Buffers& reference, const void* spread_x,
              const Gradients& mean, const Gradients& contrast) const override {
    // Integers have no multipliers: by_element is false for them.
    if constexpr (std::is_floating_point_v<T>) {
      const T *mean_y = mean.out<T>(0), *contrast_y = contrast.out<T>(0);
      T *mean_x = mean.in<T>(input), *contrast_x = contrast.in<T>(input);
      for_parts(input, values, reference, spread_x, [&](size_t i, const RevealedParts<T>& parts, T total) {
        add_revealed(parts, total, mean_y[i], contrast_y[i], mean_x[i], contrast_x[i]);
      });
    }
  }

 private:
  // Calls body(element, its parts, difference of y) for all.
  template <class Body>
  void for_parts(size_t input, const Buffers& values, const Buffers& reference, const void* spread_x,
                 const Body& body) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T *x = values.in<T>(input), *r = reference.in<T>(input);
      const T *y = values.out<T>(0), *y_r = reference.out<T>(0);
      const T* spread = static_cast<const T*>(spread_x);
      static_cast<const Own*>(this)->sections(input, values, [&](size_t i, const auto& f) {
        body(i, reveal_parts<T>(f, !f.has_gaps(), x[i], r[i], y[i], y_r[i], spread[i]), y[i] - y_r[i]);
      });
    }
  }
};

// ByElement for BinaryOf. Function: as there, and gaps_a(b): whether it has gaps (unary.h) as a function of a. If it
// has gaps_b(a), it is a function of b too.
template <class Function, class A, class B = A>
class BinaryByElement final : public BinaryOf<Function, A, B>, public ByElementOf<BinaryByElement<Function, A, B>, A> {
 public:
  using BinaryOf<Function, A, B>::BinaryOf;

  bool by_element(size_t input) const override { return std::is_floating_point_v<A> && (input == 0 || kOfB); }

  template <class Body>
  void sections(size_t input, const Buffers& values, const Body& body) const {
    const A* a = values.in<A>(0);
    const B* b = values.in<B>(1);
    with_run_strides(this->loops_, [&]([[maybe_unused]] auto a_stride, auto b_stride) {
      this->loops_.runs([&](const auto& at, size_t output, size_t length) {
        for (size_t i = 0; i < length; i++) {
          if (input == 0) {
            body(output + i, OfA{b[at[1] + i * b_stride]});
          } else if constexpr (kOfB) {
            body(output + i, OfB{a[at[0] + i * a_stride]});
          }
        }
      });
    });
  }

 private:
  static constexpr bool kOfB = std::is_same_v<A, B> && requires(A a) { Function::gaps_b(a); };

  struct OfA {
    B b;
    template <class T>
    T value(T x) const {
      return Function().value(x, b);
    }
    template <class T>
    T slope(T x, T y) const {
      return Function().slope_a(Operands<A, B>{x, b, y});
    }
    bool has_gaps() const { return Function::gaps_a(b); }
  };
  struct OfB {
    A a;
    template <class T>
    T value(T x) const {
      return Function().value(a, x);
    }
    template <class T>
    T slope(T x, T y) const {
      return Function().slope_b(Operands<A, A>{a, x, y});
    }
    bool has_gaps() const { return Function::gaps_b(a); }
  };
};

}  // namespace assay

// Operators of several inputs under ONNX's broadcasting (NumPy's): dimensions are aligned at the last one, and one of
// size 1 or left out repeats.
//
// BroadcastLoops walks operands of different dimensions together. Adjacent dimensions are merged when a plan is made if
// each operand has both or repeats both, so that equal shapes, scalars and row vectors become plain loops over
// contiguous memory. BinaryOf makes an operator of two inputs from a function, its two slopes and, where it is not
// linear, its two DeepLift multipliers.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/model/ops/kernel.h"
#include "assay/model/ops/node_setup.h"

namespace assay {

// The common dimensions of the inputs first..last of a node; refused where they do not fit.
Shape broadcast_dims(const NodeSetup& setup, size_t first, size_t last);
// Refuses an input that is not a number, and inputs first..last of different types.
void expect_numbers(const NodeSetup& setup, size_t first, size_t last);
void expect_one_type(const NodeSetup& setup, size_t first, size_t last);

template <size_t kStride>
using Stride = std::integral_constant<size_t, kStride>;

template <size_t kOperands>
class BroadcastLoops {
 public:
  using Offsets = std::array<size_t, kOperands>;

  // dims: those of the output, checked before; every operand must broadcast to them.
  BroadcastLoops(const Shape& dims, const std::array<const Shape*, kOperands>& operands);

  size_t count() const { return count_; }
  // In a run an operand moves with the output (1) or stands still (0).
  const Offsets& run_strides() const { return run_strides_; }

  // Calls body(offsets, output offset, length) for each run of the output, in its order.
  template <class Body>
  void runs(const Body& body) const {
    if (count_ == 0) return;
    Offsets at{};
    std::vector<size_t> index(outer_.size(), 0);
    size_t output = 0;
    while (true) {
      Offsets row = at;
      for (size_t i = 0; i < rows_; i++) {
        body(row, output, length_);
        output += length_;
        for (size_t k = 0; k < kOperands; k++) row[k] += row_strides_[k];
      }
      size_t d = outer_.size();
      while (d > 0) {
        d--;
        for (size_t k = 0; k < kOperands; k++) at[k] += outer_[d].strides[k];
        if (++index[d] < outer_[d].size) break;
        for (size_t k = 0; k < kOperands; k++) at[k] -= outer_[d].strides[k] * outer_[d].size;
        index[d] = 0;
        if (d == 0) return;
      }
      if (outer_.empty()) return;
    }
  }

 private:
  struct Dimension {
    size_t size;
    Offsets strides;
  };

  size_t count_;
  std::vector<Dimension> outer_;  // outermost first
  size_t rows_ = 1;
  Offsets row_strides_{};
  size_t length_ = 1;
  Offsets run_strides_{};
};

extern template class BroadcastLoops<1>;
extern template class BroadcastLoops<2>;
extern template class BroadcastLoops<3>;

// Calls body(Stride a, Stride b) with the run strides of two operands as constants. They never both stand still.
template <class Body>
void with_run_strides(const BroadcastLoops<2>& loops, const Body& body) {
  if (loops.run_strides()[1] == 0) return body(Stride<1>(), Stride<0>());
  if (loops.run_strides()[0] == 0) return body(Stride<0>(), Stride<1>());
  return body(Stride<1>(), Stride<1>());
}

// y = function(a, b), without derivatives.
template <class Function, class A, class B, class Y>
class BinaryMap : public Kernel {
 public:
  explicit BinaryMap(BroadcastLoops<2> loops) : loops_(std::move(loops)) {}

  void forward(const Buffers& values) const override {
    const A* a = values.in<A>(0);
    const B* b = values.in<B>(1);
    Y* y = values.out<Y>(0);
    with_run_strides(loops_, [&](auto a_stride, auto b_stride) {
      loops_.runs([&](const auto& at, size_t output, size_t length) {
        const A* a_run = a + at[0];
        const B* b_run = b + at[1];
        Y* y_run = y + output;
        for (size_t i = 0; i < length; i++) y_run[i] = Function().value(a_run[i * a_stride], b_run[i * b_stride]);
      });
    });
  }

 protected:
  BroadcastLoops<2> loops_;
};

// An element of both inputs and of the output.
template <class A, class B>
struct Operands {
  A a;
  B b;
  A y;
};

// With derivatives. Function has value(a, b) and, for Operands x, slope_a(x) and slope_b(x). If it is not linear, also
// multiplier_a(x, reference) and multiplier_b(x, reference), with
// multiplier_a * (x.a - reference.a) + multiplier_b * (x.b - reference.b) = x.y - reference.y.
// If it is affine in one or both: coefficients(changes), as in AffineForm, or nothing; and `Absolute`, the function
// with absolute coefficients, if that is another one.
template <class Function, class A, class B = A>
class BinaryOf : public BinaryMap<Function, A, B, A> {
 public:
  using BinaryMap<Function, A, B, A>::BinaryMap;

  bool differentiable(size_t input) const override {
    return std::is_floating_point_v<A> && (input == 0 || std::is_floating_point_v<B>);
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    if constexpr (std::is_floating_point_v<A>) {
      const Values x(values);
      add<0>(gradients, [&](size_t a, size_t b, size_t y) { return Function().slope_a(x.at(a, b, y)); });
      add<1>(gradients, [&](size_t a, size_t b, size_t y) { return Function().slope_b(x.at(a, b, y)); });
    }
  }
  std::optional<AffineForm> affine_form(const std::vector<bool>& changes) const override {
    if constexpr (std::is_floating_point_v<A> && requires { Function::coefficients(changes); }) {
      const auto coefficients = Function::coefficients(changes);
      if (!coefficients) return {};
      AffineForm form{.coefficients = *coefficients};
      if constexpr (requires { typename Function::Absolute; }) {
        form.absolute = std::make_shared<BinaryOf<typename Function::Absolute, A, B>>(this->loops_);
      }
      return form;
    }
    return {};
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if constexpr (std::is_floating_point_v<A> && requires(Operands<A, B> x) { Function().multiplier_a(x, x); }) {
      const Values x(values);
      const Values r(reference);
      add<0>(multipliers,
             [&](size_t a, size_t b, size_t y) { return Function().multiplier_a(x.at(a, b, y), r.at(a, b, y)); });
      add<1>(multipliers,
             [&](size_t a, size_t b, size_t y) { return Function().multiplier_b(x.at(a, b, y), r.at(a, b, y)); });
    } else {
      backward(values, multipliers);
    }
  }

 private:
  struct Values {
    explicit Values(const Buffers& buffers)
        : a(buffers.in<A>(0)), b(buffers.in<B>(1)), y(static_cast<const A*>(buffers.out<A>(0))) {}
    Operands<A, B> at(size_t i, size_t j, size_t k) const { return {a[i], b[j], y[k]}; }
    const A* a;
    const B* b;
    const A* y;
  };

  // Adds partial * dy to the derivative by one input. One that stands still in a run gets the run's sum.
  template <size_t kInput, class Partial>
  void add(const Gradients& gradients, const Partial& partial) const {
    using D = std::conditional_t<kInput == 0, A, B>;
    if constexpr (std::is_floating_point_v<D>) {
      D* dx = gradients.in<D>(kInput);
      const A* dy = gradients.out<A>(0);
      if (dx == nullptr || dy == nullptr) return;
      with_run_strides(this->loops_, [&](auto a_stride, auto b_stride) {
        constexpr size_t kMoves = kInput == 0 ? decltype(a_stride)::value : decltype(b_stride)::value;
        this->loops_.runs([&](const auto& at, size_t output, size_t length) {
          const auto term = [&](size_t i) {
            return static_cast<D>(partial(at[0] + i * a_stride, at[1] + i * b_stride, output + i) * dy[output + i]);
          };
          D* dx_run = dx + at[kInput];
          if constexpr (kMoves == 1) {
            for (size_t i = 0; i < length; i++) dx_run[i] += term(i);
          } else {
            D sum = 0;
            for (size_t i = 0; i < length; i++) sum += term(i);
            dx_run[0] += sum;
          }
        });
      });
    }
  }
};

// Two inputs that broadcast; sets the output.
inline BroadcastLoops<2> binary_loops(NodeSetup& setup, OnnxElement output) {
  const Shape dims = broadcast_dims(setup, 0, 2);
  setup.set_output(0, output, dims);
  return {dims, {&setup.input(0).dims, &setup.input(1).dims}};
}

// Two numbers of one type to a third of that type: all types that ONNX allows for arithmetic.
template <class Function, template <class, class, class> class KernelOf = BinaryOf>
std::unique_ptr<Kernel> make_arithmetic(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  expect_numbers(setup, 0, 2);
  expect_one_type(setup, 0, 2);
  const OnnxElement type = setup.input(0).type;
  BroadcastLoops<2> loops = binary_loops(setup, type);
  return with_element(type, [&]<class T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      return std::make_unique<KernelOf<Function, T, T>>(std::move(loops));
    }
    return nullptr;
  });
}

// Two values of one type to a truth value. Numbers only, unless the function takes text.
template <class Function>
std::unique_ptr<Kernel> make_comparison(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  expect_one_type(setup, 0, 2);
  if constexpr (!Function::kAnyType) expect_numbers(setup, 0, 2);
  BroadcastLoops<2> loops = binary_loops(setup, OnnxElement::boolean);
  return with_element(setup.input(0).type, [&]<class T>() -> std::unique_ptr<Kernel> {
    if constexpr (Function::kAnyType || (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)) {
      return std::make_unique<BinaryMap<Function, T, T, bool>>(std::move(loops));
    }
    return nullptr;
  });
}

}  // namespace assay

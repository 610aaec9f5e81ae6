// Where: y = condition ? a : b, broadcast, for values of any one type. The condition stops gradients.
//
// DeepLift: where the condition is the same at x and at the reference, the chosen branch passes on. Where it flips,
// both branches get half, and what is missing to y - y' (the jump of the condition) in proportion to |a - a'| and |b -
// b'|. So a Where that switches between two functions of one x gives x the rescale rule's multiplier, and completeness
// holds unless neither branch changes: then only the condition could account for y - y', and the difference is lost.
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "assay/model/ops/broadcast.h"

namespace assay {
namespace {

template <class T>
class Where final : public Kernel {
 public:
  explicit Where(BroadcastLoops<3> loops) : loops_(std::move(loops)) {}

  bool differentiable(size_t input) const override { return input > 0 && std::is_floating_point_v<T>; }

  void forward(const Buffers& values) const override {
    const bool* condition = values.in<bool>(0);
    const T* a = values.in<T>(1);
    const T* b = values.in<T>(2);
    T* y = values.out<T>(0);
    each([&](size_t c, size_t i, size_t j, size_t k) { y[k] = condition[c] ? a[i] : b[j]; });
  }

  void backward(const Buffers& values, const Gradients& gradients) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const bool* condition = values.in<bool>(0);
      const T* dy = gradients.out<T>(0);
      T* da = gradients.in<T>(1);
      T* db = gradients.in<T>(2);
      if (dy == nullptr) return;
      each([&](size_t c, size_t i, size_t j, size_t k) {
        if (condition[c] && da != nullptr) da[i] += dy[k];
        if (!condition[c] && db != nullptr) db[j] += dy[k];
      });
    }
  }

  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const bool* condition = values.in<bool>(0);
      const bool* condition_r = reference.in<bool>(0);
      const T* a = values.in<T>(1);
      const T* b = values.in<T>(2);
      const T* a_r = reference.in<T>(1);
      const T* b_r = reference.in<T>(2);
      const T* y = values.out<T>(0);
      const T* y_r = reference.out<T>(0);
      const T* dy = multipliers.out<T>(0);
      T* da = multipliers.in<T>(1);
      T* db = multipliers.in<T>(2);
      if (dy == nullptr) return;
      each([&](size_t c, size_t i, size_t j, size_t k) {
        T to_a = condition[c] ? T(1) : T(0);
        T to_b = T(1) - to_a;
        if (condition[c] != condition_r[c]) {
          const T a_difference = a[i] - a_r[i];
          const T b_difference = b[j] - b_r[j];
          to_a = T(0.5);
          to_b = T(0.5);
          const T change = std::abs(a_difference) + std::abs(b_difference);
          const T scale = std::abs(a[i]) + std::abs(a_r[i]) + std::abs(b[j]) + std::abs(b_r[j]) + T(1e-3);
          // A smaller change is rounding, and the jump divided by it would be noise; false for infinite masks too.
          if (change > T(64) * std::numeric_limits<T>::epsilon() * scale) {
            const T missing = (y[k] - y_r[k] - (a_difference + b_difference) / 2) / change;
            if (a_difference != T(0)) to_a += std::copysign(missing, missing * a_difference);
            if (b_difference != T(0)) to_b += std::copysign(missing, missing * b_difference);
          }
        }
        if (da != nullptr) da[i] += to_a * dy[k];
        if (db != nullptr) db[j] += to_b * dy[k];
      });
    }
  }

 private:
  // Calls body(index in condition, in a, in b, in the output).
  template <class Body>
  void each(const Body& body) const {
    const auto& strides = loops_.run_strides();
    const bool all_move = strides[0] == 1 && strides[1] == 1 && strides[2] == 1;
    loops_.runs([&](const auto& at, size_t output, size_t length) {
      if (all_move) {
        for (size_t n = 0; n < length; n++) body(at[0] + n, at[1] + n, at[2] + n, output + n);
        return;
      }
      for (size_t n = 0; n < length; n++) {
        body(at[0] + n * strides[0], at[1] + n * strides[1], at[2] + n * strides[2], output + n);
      }
    });
  }

  BroadcastLoops<3> loops_;
};

}  // namespace

std::unique_ptr<Kernel> make_where(NodeSetup& setup) {
  setup.expect_inputs(3, 3);
  setup.expect_outputs(1, 1);
  setup.typed_input(0, OnnxElement::boolean);
  expect_one_type(setup, 1, 3);
  const OnnxElement type = setup.input(1).type;
  const Shape dims = broadcast_dims(setup, 0, 3);
  setup.set_output(0, type, dims);
  BroadcastLoops<3> loops(dims, {&setup.input(0).dims, &setup.input(1).dims, &setup.input(2).dims});
  return with_element(
      type, [&]<class T>() -> std::unique_ptr<Kernel> { return std::make_unique<Where<T>>(std::move(loops)); });
}

}  // namespace assay

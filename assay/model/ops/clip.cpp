// Clip: y = min(max(x, low), high), so high wins where low > high; a bound that is absent does not bound. Bounds are
// attributes before opset 11 and inputs from it on; integers too. The derivative by x at the bounds is taken as 0, as
// PyTorch's clamp and relu6 do.
//
// Bounds that depend on the data have derivatives and DeepLift multipliers as well: those of Min after Max.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "assay/model/ops/extremum.h"
#include "assay/model/ops/unary.h"

namespace assay {
namespace {

// Known bounds: a function of one variable, which may be fused with the layer before it.
struct Clip {
  double low;
  double high;

  template <class T>
  T value(T x) const {
    const T raised = x < T(low) ? T(low) : x;
    return raised > T(high) ? T(high) : raised;
  }
  template <class T>
  T slope(T x, T) const {
    return x > T(low) && x < T(high) ? T(1) : T(0);
  }
};

template <class T>
class ClipByInputs final : public Kernel {
 public:
  explicit ClipByInputs(size_t count) : count_(count) {}

  bool differentiable(size_t) const override { return std::is_floating_point_v<T>; }

  void forward(const Buffers& values) const override {
    const T* x = values.in<T>(0);
    const T low = bound(values, 1);
    const T high = bound(values, 2);
    T* y = values.out<T>(0);
    for (size_t i = 0; i < count_; i++) {
      const T raised = x[i] < low ? low : x[i];
      y[i] = raised > high ? high : raised;
    }
  }

  void backward(const Buffers& values, const Gradients& gradients) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* x = values.in<T>(0);
      const T low = bound(values, 1);
      const T high = bound(values, 2);
      add(gradients, [&](size_t i, T& to_x, T& to_low, T& to_high) {
        to_x = x[i] > low && x[i] < high ? T(1) : T(0);
        to_low = x[i] < low && low < high ? T(1) : T(0);
        to_high = x[i] > high || high < low ? T(1) : T(0);
      });
    }
  }

  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* x = values.in<T>(0);
      const T* r = reference.in<T>(0);
      const T low = bound(values, 1);
      const T high = bound(values, 2);
      const T low_r = bound(reference, 1);
      const T high_r = bound(reference, 2);
      const T* y = values.out<T>(0);
      const T* y_r = reference.out<T>(0);
      add(multipliers, [&](size_t i, T& to_x, T& to_low, T& to_high) {
        const T raised = x[i] < low ? low : x[i];
        const T raised_r = r[i] < low_r ? low_r : r[i];
        T to_raised = 0;
        share<SmallerWins>(raised, raised_r, high, high_r, y[i], y_r[i], to_raised, to_high);
        share<LargerWins>(x[i], r[i], low, low_r, raised, raised_r, to_x, to_low);
        to_x *= to_raised;
        to_low *= to_raised;
      });
    }
  }

 private:
  static T bound(const Buffers& values, size_t input) {
    const T* given = values.in<T>(input);
    if (given != nullptr) return *given;
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) return input == 1 ? -Limits::infinity() : Limits::infinity();
    return input == 1 ? Limits::lowest() : Limits::max();
  }

  // The multipliers of a and b in y, the extremum of both.
  template <class Order>
  static void share(T a, T a_r, T b, T b_r, T y, T y_r, T& to_a, T& to_b) {
    const bool by_a = decides<Order>(a, a_r, y, y_r);
    const bool by_b = decides<Order>(b, b_r, y, y_r);
    const T part = by_a && by_b ? T(0.5) : T(1);
    to_a = by_a ? part * deciding_multiplier(a, a_r, y, y_r) : T(0);
    to_b = by_b ? part * deciding_multiplier(b, b_r, y, y_r) : T(0);
  }

  template <class Partials>
  void add(const Gradients& gradients, const Partials& partials) const {
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    T* d_low = gradients.in<T>(1);
    T* d_high = gradients.in<T>(2);
    if (dy == nullptr) return;
    for (size_t i = 0; i < count_; i++) {
      T to_x = 0;
      T to_low = 0;
      T to_high = 0;
      partials(i, to_x, to_low, to_high);
      if (dx != nullptr) dx[i] += to_x * dy[i];
      if (d_low != nullptr) *d_low += to_low * dy[i];
      if (d_high != nullptr) *d_high += to_high * dy[i];
    }
  }

  size_t count_;
};

// A bound given as input, when it is known; absent ones are infinite.
bool known_bound(const NodeSetup& setup, size_t input, double& bound) {
  if (!setup.has_input(input)) return true;
  const ValueInfo& given = setup.input(input);
  if (given.constant == nullptr) return false;
  bound = given.type == OnnxElement::float64 ? given.constant->data<double>()[0]
                                             : static_cast<double>(given.constant->data<float>()[0]);
  return true;
}

}  // namespace

std::unique_ptr<Kernel> make_clip(NodeSetup& setup) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (setup.opset() < 11) return make_unary(setup, Clip{setup.real("min", -kInfinity), setup.real("max", kInfinity)});
  Clip clip{-kInfinity, kInfinity};
  setup.expect_outputs(1, 1);
  setup.expect_inputs(1, 3);
  const ValueInfo& x = setup.input(0);
  expect_numbers(setup, 0, 1);
  for (size_t i = 1; i < 3; i++) {
    if (!setup.has_input(i)) continue;
    const ValueInfo& bound = setup.typed_input(i, x.type);
    // Without dimensions by the specification, but exporters write one of size 1 too.
    if (bound.count() != 1) {
      setup.fail(fmt::format("the bound in input {} must be one number, found dimensions {}", i + 1,
                             onnx_shape_text(bound.dims)));
    }
  }
  setup.set_output(0, x.type, x.dims);
  if (is_floating(x.type) && known_bound(setup, 1, clip.low) && known_bound(setup, 2, clip.high)) {
    return std::make_unique<UnaryOf<Clip>>(clip, x.type, x.count());
  }
  return with_element(x.type, [&]<class T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      return std::make_unique<ClipByInputs<T>>(x.count());
    }
    return nullptr;
  });
}

}  // namespace assay

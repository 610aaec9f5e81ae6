// ReduceMax: the largest element over some axes (all when none are named). Axes are an attribute before opset 18 and an
// input from then on; booleans (from opset 20) give "any". NaN wins. The largest of nothing is the type's least value.
// Derivative: where several elements are largest they share it evenly, as PyTorch's amax does.
// DeepLift, with c = max(y, y_r): c - y_r goes to the elements that are largest at x, y - c to those at the reference,
// each share divided by its element's own difference. That is never 0 where the share is not.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/reduce.h"

namespace assay {
namespace {

template <class T>
T least_value() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return ((b > a) | std::isnan(b)) ? b : a;
  return b > a ? b : a;
}
template <class T>
bool same(T x, T y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}

class ReduceMax final : public Kernel {
 public:
  ReduceMax(OnnxElement type, Reduction reduction) : type_(type), reduction_(std::move(reduction)) {}

  void forward(const Buffers& values) const override {
    with_element(type_, [&]<class T>() {
      if constexpr (std::is_arithmetic_v<T>) fold<T>(values);
    });
  }
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    with_floating_element(type_, [&]<class T>() { pull_back<T>(values, gradients); });
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    with_floating_element(type_, [&]<class T>() { share_out<T>(values, reference, multipliers); });
  }
  // How many elements are largest, for every output.
  size_t scratch_bytes() const override { return is_floating(type_) ? reduction_.outputs() * sizeof(double) : 0; }

 private:
  // Calls body(input element, its output) for all.
  template <class Body>
  void for_each(const Body& body) const {
    const bool last_folded = reduction_.last_folded();
    reduction_.for_each_run([&](size_t input, size_t output, size_t run) {
      if (last_folded) {
        for (size_t i = 0; i < run; i++) body(input + i, output);
      } else {
        for (size_t i = 0; i < run; i++) body(input + i, output + i);
      }
    });
  }

  template <class T>
  void fold(const Buffers& values) const {
    const T* x = values.in<T>(0);
    T* y = values.out<T>(0);
    for (size_t i = 0; i < reduction_.outputs(); i++) y[i] = least_value<T>();
    const bool last_folded = reduction_.last_folded();
    reduction_.for_each_run([&](size_t input, size_t output, size_t run) {
      if (last_folded) {
        T best = y[output];
        for (size_t i = 0; i < run; i++) best = larger(best, x[input + i]);
        y[output] = best;
      } else {
        for (size_t i = 0; i < run; i++) y[output + i] = larger(y[output + i], x[input + i]);
      }
    });
  }

  template <class T>
  const double* count_ties(const Buffers& values, std::byte* scratch) const {
    const T* x = values.in<T>(0);
    const T* y = values.out<T>(0);
    double* ties = reinterpret_cast<double*>(scratch);
    for (size_t i = 0; i < reduction_.outputs(); i++) ties[i] = 0;
    for_each([&](size_t input, size_t output) { ties[output] += same(x[input], y[output]) ? 1 : 0; });
    return ties;
  }

  template <class T>
  void pull_back(const Buffers& values, const Gradients& gradients) const {
    const T* x = values.in<T>(0);
    const T* y = values.out<T>(0);
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    const double* ties = count_ties<T>(values, values.scratch);
    for_each([&](size_t input, size_t output) {
      if (same(x[input], y[output])) dx[input] += static_cast<T>(dy[output] / ties[output]);
    });
  }

  template <class T>
  void share_out(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const {
    const T* dy = multipliers.out<T>(0);
    T* dx = multipliers.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    const T* x = values.in<T>(0);
    const T* r = reference.in<T>(0);
    const T* y = values.out<T>(0);
    const T* y_r = reference.out<T>(0);
    const double* ties = count_ties<T>(values, values.scratch);
    for_each([&](size_t input, size_t output) {
      if (!same(x[input], y[output]) || x[input] == r[input]) return;
      const T part = larger(y[output], y_r[output]) - y_r[output];
      dx[input] += static_cast<T>(dy[output] * (part / (x[input] - r[input])) / ties[output]);
    });
    ties = count_ties<T>(reference, values.scratch);
    for_each([&](size_t input, size_t output) {
      if (!same(r[input], y_r[output]) || x[input] == r[input]) return;
      const T part = y[output] - larger(y[output], y_r[output]);
      dx[input] += static_cast<T>(dy[output] * (part / (x[input] - r[input])) / ties[output]);
    });
  }

  OnnxElement type_;
  Reduction reduction_;
};

}  // namespace

std::unique_ptr<Kernel> make_reduce_max(NodeSetup& setup) {
  const OnnxElement type = setup.input(0).type;
  if (type == OnnxElement::string || (type == OnnxElement::boolean && setup.opset() < 20)) {
    setup.fail(fmt::format("input 1 must be numbers, found {}", onnx_type_name(type)));
  }
  Reduction reduction = make_reduction(setup, 18);
  return std::make_unique<ReduceMax>(type, std::move(reduction));
}

}  // namespace assay

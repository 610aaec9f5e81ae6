// Softmax: y_k = exp(z_k) / (sum of exp(z)) along an axis; softmax.h has the lines and the DeepLift rule, whose last
// step is the quotient e_k / S = e_k * (1 / S) by the product rule.
#include "assay/model/ops/softmax.h"

namespace assay {
namespace {

template <class T>
class Softmax final : public Kernel {
 public:
  Softmax(SoftmaxLines lines, size_t scratch) : lines_(lines), scratch_(scratch) {}

  bool differentiable(size_t) const override { return true; }
  size_t scratch_bytes() const override { return scratch_; }

  void forward(const Buffers& values) const override {
    const T* z = values.in<T>(0);
    T* y = values.out<T>(0);
    const size_t length = lines_.length;
    const size_t stride = lines_.stride;
    lines_.each([&](size_t first) {
      const T* from = z + first;
      T* to = y + first;
      T largest = from[0];
      for (size_t k = 1; k < length; k++) largest = extremum<LargerWins>(largest, from[k * stride]);
      double sum = 0;
      for (size_t k = 0; k < length; k++) {
        to[k * stride] = std::exp(from[k * stride] - largest);
        sum += static_cast<double>(to[k * stride]);
      }
      for (size_t k = 0; k < length; k++) to[k * stride] /= static_cast<T>(sum);
    });
  }

  void backward(const Buffers& values, const Gradients& gradients) const override {
    const T* y = values.out<T>(0);
    const T* dy = gradients.out<T>(0);
    T* dz = gradients.in<T>(0);
    if (dy == nullptr || dz == nullptr) return;
    const size_t length = lines_.length;
    const size_t stride = lines_.stride;
    lines_.each([&](size_t first) {
      double mean = 0;
      for (size_t k = first; k < first + length * stride; k += stride) mean += static_cast<double>(y[k] * dy[k]);
      for (size_t k = first; k < first + length * stride; k += stride) dz[k] += y[k] * (dy[k] - static_cast<T>(mean));
    });
  }

  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    const T* dy = multipliers.out<T>(0);
    T* dz = multipliers.in<T>(0);
    if (dy == nullptr || dz == nullptr) return;
    lines_.each([&](size_t first) {
      const ExpLine<T> x(values.in<T>(0) + first, lines_.length, lines_.stride);
      const ExpLine<T> r(reference.in<T>(0) + first, lines_.length, lines_.stride);
      double to_sum = 0;
      for (size_t k = 0; k < lines_.length; k++) {
        to_sum -= static_cast<double>(dy[first + k * lines_.stride]) *
                  (static_cast<double>(x.power(k)) + static_cast<double>(r.power(k)));
      }
      to_sum /= 2 * x.sum * r.sum;
      const double to_power = 0.5 / x.sum + 0.5 / r.sum;
      add_centred(
          x, r, reinterpret_cast<double*>(values.scratch),
          [&](size_t k) {
            const auto wanted = static_cast<double>(dy[first + k * lines_.stride]);
            return power_multiplier(x, r, k) * (wanted * to_power + to_sum);
          },
          0, dz + first);
    });
  }

 private:
  SoftmaxLines lines_;
  size_t scratch_;
};

}  // namespace

SoftmaxLines softmax_lines(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& z = setup.floating_input(0);
  setup.set_output(0, z.type, z.dims);
  const size_t rank = z.dims.size();
  const bool one_axis = setup.opset() >= 13;
  const size_t axis = setup.axis(setup.integer("axis", one_axis ? -1 : 1), rank);
  const size_t end = one_axis ? axis + 1 : rank;
  return {element_count(z.dims, 0, axis), element_count(z.dims, axis, end), element_count(z.dims, end, rank)};
}

std::unique_ptr<Kernel> make_softmax(NodeSetup& setup) {
  const SoftmaxLines lines = softmax_lines(setup);
  const size_t scratch = setup.checked_bytes(lines.length, sizeof(double));
  if (setup.input(0).type == OnnxElement::float64) return std::make_unique<Softmax<double>>(lines, scratch);
  return std::make_unique<Softmax<float>>(lines, scratch);
}

}  // namespace assay

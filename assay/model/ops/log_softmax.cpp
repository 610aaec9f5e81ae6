// LogSoftmax: y_k = z_k - log(sum of exp(z)) along an axis; softmax.h has the lines and the DeepLift rule.
#include "assay/model/ops/softmax.h"

namespace assay {
namespace {

template <class T>
class LogSoftmax final : public Kernel {
 public:
  LogSoftmax(SoftmaxLines lines, size_t scratch) : lines_(lines), scratch_(scratch) {}

  bool differentiable(size_t) const override { return true; }
  size_t scratch_bytes() const override { return scratch_; }

  void forward(const Buffers& values) const override {
    T* y = values.out<T>(0);
    lines_.each([&](size_t first) {
      const ExpLine<T> z(values.in<T>(0) + first, lines_.length, lines_.stride);
      const T log_of_sum = static_cast<T>(std::log(z.sum));
      // Two differences: the first is exact for near values, where the sum of both subtrahends would not be.
      for (size_t k = 0; k < z.length; k++) y[first + k * z.stride] = z[k] - z.largest - log_of_sum;
    });
  }

  void backward(const Buffers& values, const Gradients& gradients) const override {
    const T* y = values.out<T>(0);
    const T* dy = gradients.out<T>(0);
    T* dz = gradients.in<T>(0);
    if (dy == nullptr || dz == nullptr) return;
    lines_.each([&](size_t first) {
      const T total = static_cast<T>(sum_of(dy, first));
      for (size_t k = 0; k < lines_.length; k++) {
        const size_t at = first + k * lines_.stride;
        dz[at] += dy[at] - std::exp(y[at]) * total;
      }
    });
  }

  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    const T* dy = multipliers.out<T>(0);
    T* dz = multipliers.in<T>(0);
    if (dy == nullptr || dz == nullptr) return;
    lines_.each([&](size_t first) {
      const ExpLine<T> x(values.in<T>(0) + first, lines_.length, lines_.stride);
      const ExpLine<T> r(reference.in<T>(0) + first, lines_.length, lines_.stride);
      const double to_sum = -sum_of(dy, first) * log_multiplier(x, r);
      add_centred(
          x, r, reinterpret_cast<double*>(values.scratch),
          [&](size_t k) {
            return static_cast<double>(dy[first + k * lines_.stride]) + to_sum * power_multiplier(x, r, k);
          },
          0, dz + first);
    });
  }

 private:
  double sum_of(const T* dy, size_t first) const {
    double sum = 0;
    for (size_t k = 0; k < lines_.length; k++) sum += static_cast<double>(dy[first + k * lines_.stride]);
    return sum;
  }

  SoftmaxLines lines_;
  size_t scratch_;
};

}  // namespace

std::unique_ptr<Kernel> make_log_softmax(NodeSetup& setup) {
  const SoftmaxLines lines = softmax_lines(setup);
  const size_t scratch = setup.checked_bytes(lines.length, sizeof(double));
  if (setup.input(0).type == OnnxElement::float64) return std::make_unique<LogSoftmax<double>>(lines, scratch);
  return std::make_unique<LogSoftmax<float>>(lines, scratch);
}

}  // namespace assay

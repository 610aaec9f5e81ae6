// LogOdds (domain "assay"): of logits z, one row of C classes each, the log-odds of every class against all others,
//   y_c = z_c - log(sum of exp(z_k) over k other than c) = log(p_c / (1 - p_c)) with p = softmax(z),
// without the loss of digits that 1 - p_c would bring. One column is a sigmoid's logit, and y = z.
//
// DeepLift: the sum's logarithm by softmax.h's rule, without the class itself; a class whose output nobody asks for
// costs nothing, and the usual case is one class.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/softmax.h"

namespace assay {
namespace {

template <class T>
class LogOdds final : public Kernel {
 public:
  LogOdds(size_t rows, size_t classes, size_t scratch) : rows_(rows), classes_(classes), scratch_(scratch) {}

  bool differentiable(size_t) const override { return true; }
  size_t scratch_bytes() const override { return scratch_; }

  void forward(const Buffers& values) const override {
    for (size_t i = 0; i < rows_; i++) {
      const T* z = values.in<T>(0) + i * classes_;
      T* y = values.out<T>(0) + i * classes_;
      if (classes_ == 1) {
        y[0] = z[0];
        continue;
      }
      const ExpLine<T> all(z, classes_, 1);
      const auto top = static_cast<size_t>(std::max_element(z, z + classes_) - z);
      const ExpLine<T> below(z, classes_, 1, top);
      for (size_t c = 0; c < classes_; c++) {
        // Another class is at least as large as c, so what is left of the sum is half of it or more; only beside the
        // largest class nothing may be left, so the others have their own sum.
        if (c == top) {
          y[c] = against(z[c], below.largest, below.sum);
        } else {
          y[c] = against(z[c], all.largest, all.sum - static_cast<double>(all.power(c)));
        }
      }
    }
  }

  void backward(const Buffers& values, const Gradients& gradients) const override {
    each_wanted(gradients, [&](size_t row, size_t c, T wanted, T* dz) {
      const ExpLine<T> others(values.in<T>(0) + row * classes_, classes_, 1, c);
      for (size_t k = 0; k < classes_; k++) {
        if (k != c) dz[k] -= static_cast<T>(static_cast<double>(others.power(k)) / others.sum) * wanted;
      }
    });
  }

  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    each_wanted(multipliers, [&](size_t row, size_t c, T wanted, T* dz) {
      const ExpLine<T> x(values.in<T>(0) + row * classes_, classes_, 1, c);
      const ExpLine<T> r(reference.in<T>(0) + row * classes_, classes_, 1, c);
      // y = z_c - u - log(S), where z_c is not centred, so u has a multiplier of its own.
      const double to_sum = -static_cast<double>(wanted) * log_multiplier(x, r);
      add_centred(
          x, r, reinterpret_cast<double*>(values.scratch), [&](size_t k) { return to_sum * power_multiplier(x, r, k); },
          -static_cast<double>(wanted), dz);
    });
  }

 private:
  static T against(T z, T largest, double sum) { return z - largest - static_cast<T>(std::log(sum)); }

  // Calls body(row, class, dy, dz of the row) for outputs that take part, after adding their own z's share.
  template <class Body>
  void each_wanted(const Gradients& gradients, const Body& body) const {
    const T* dy = gradients.out<T>(0);
    T* dz = gradients.in<T>(0);
    if (dy == nullptr || dz == nullptr) return;
    for (size_t i = 0; i < rows_ * classes_; i++) {
      if (dy[i] == T(0)) continue;
      dz[i] += dy[i];
      if (classes_ > 1) body(i / classes_, i % classes_, dy[i], dz + i / classes_ * classes_);
    }
  }

  size_t rows_;
  size_t classes_;
  size_t scratch_;
};

}  // namespace

std::unique_ptr<Kernel> make_log_odds(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& z = setup.floating_input(0);
  setup.expect_rank(0, 2, 2);
  if (z.dims[1] == 0)
    setup.fail(fmt::format("input 1 must have at least one class, found {}", onnx_shape_text(z.dims)));
  setup.set_output(0, z.type, z.dims);
  const auto rows = static_cast<size_t>(z.dims[0]);
  const auto classes = static_cast<size_t>(z.dims[1]);
  const size_t scratch = setup.checked_bytes(classes, sizeof(double));
  if (z.type == OnnxElement::float64) return std::make_unique<LogOdds<double>>(rows, classes, scratch);
  return std::make_unique<LogOdds<float>>(rows, classes, scratch);
}

}  // namespace assay

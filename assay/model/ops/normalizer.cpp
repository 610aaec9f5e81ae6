// Normalizer (ai.onnx.ml): y = x / n(x) for each row, float32 whatever x is. n is max(x) (not of |x|), sum |x| or the
// Euclidean norm; where n is 0, y = x. All as onnxruntime does, with sums in double. Derivatives: |x| has slope 0 at 0
// and the first of equal maxima takes max's, as PyTorch does.
// DeepLift: y - y' = (x - x')(1/n + 1/n')/2 + (x + x')/2 (1/n - 1/n'), and the change of n is shared among the features
// so that it adds up; a reference of zeros has no norm, and x / n(x) is then linear in x.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/text.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

enum class Norm { max, l1, l2 };

class Normalizer final : public Kernel {
 public:
  explicit Normalizer(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    x_ = table_input(setup, 0);
    const std::string norm = setup.text("norm", "MAX");
    if (norm == "MAX") {
      norm_ = Norm::max;
    } else if (norm == "L1") {
      norm_ = Norm::l1;
    } else if (norm == "L2") {
      norm_ = Norm::l2;
    } else {
      setup.fail(fmt::format("norm must be MAX, L1 or L2, found {}", in_quotes(norm)));
    }
    setup.set_output(0, OnnxElement::float32, setup.input(0).dims);
  }

  void forward(const Buffers& values) const override {
    with_number(x_.type, [&]<class T>() {
      const T* x = values.in<T>(0);
      float* y = values.out<float>(0);
      for (size_t i = 0; i < x_.rows; i++, x += x_.width, y += x_.width) {
        const double divisor = divisor_of(norm_of(x));
        for (size_t f = 0; f < x_.width; f++) y[f] = static_cast<float>(static_cast<double>(x[f]) / divisor);
      }
    });
  }
  bool differentiable(size_t) const override { return is_floating(x_.type); }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    const float* dy = gradients.out<float>(0);
    if (dy == nullptr || gradients.in<void>(0) == nullptr) return;
    with_real(x_.type, [&]<class T>() {
      const T* x = values.in<T>(0);
      T* dx = gradients.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++, x += x_.width, dx += x_.width, dy += x_.width) {
        const double norm = norm_of(x);
        const double divisor = divisor_of(norm);
        // dy/dn, zero where the divisor is a constant.
        double by_norm = 0;
        for (size_t f = 0; f < x_.width; f++) {
          by_norm -= norm == 0 ? 0 : static_cast<double>(dy[f]) * static_cast<double>(x[f]) / (norm * norm);
          dx[f] += static_cast<T>(static_cast<double>(dy[f]) / divisor);
        }
        if (norm == 0) continue;
        if (norm_ == Norm::max) {
          dx[largest(x)] += static_cast<T>(by_norm);
          continue;
        }
        for (size_t f = 0; f < x_.width; f++) {
          const auto at = static_cast<double>(x[f]);
          dx[f] += static_cast<T>(by_norm * (norm_ == Norm::l2 ? at / norm : sign(at)));
        }
      }
    });
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    const float* dy = multipliers.out<float>(0);
    if (dy == nullptr || multipliers.in<void>(0) == nullptr) return;
    with_real(x_.type, [&]<class T>() {
      const T* x = values.in<T>(0);
      const T* r = reference.in<T>(0);
      T* dx = multipliers.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++) {
        rescale_row(x, r, dy, dx);
        x += x_.width;
        r += x_.width;
        dy += x_.width;
        dx += x_.width;
      }
    });
  }

 private:
  static double sign(double x) { return x > 0 ? 1 : (x < 0 ? -1 : 0); }
  static double divisor_of(double norm) { return norm == 0 ? 1 : norm; }

  template <class T>
  size_t largest(const T* row) const {
    return static_cast<size_t>(std::max_element(row, row + x_.width) - row);
  }
  template <class T>
  double norm_of(const T* row) const {
    if (x_.width == 0) return 0;
    if (norm_ == Norm::max) return static_cast<double>(row[largest(row)]);
    double total = 0;
    for (size_t f = 0; f < x_.width; f++) {
      const auto at = static_cast<double>(row[f]);
      total += norm_ == Norm::l1 ? std::abs(at) : at * at;
    }
    return norm_ == Norm::l1 ? total : std::sqrt(total);
  }

  template <class T>
  void rescale_row(const T* x, const T* r, const float* dy, T* dx) const {
    const auto is_zero = [&](const T* row) { return std::all_of(row, row + x_.width, [](T at) { return at == 0; }); };
    const double norm = norm_of(x);
    const double norm_r = norm_of(r);
    double divisor = divisor_of(norm);
    double divisor_r = divisor_of(norm_r);
    // Zeros divided by anything are zeros: the other row's norm is as good as any, and leaves nothing to share.
    if (is_zero(x)) divisor = divisor_r;
    if (is_zero(r)) divisor_r = divisor;
    const double direct = (1 / divisor + 1 / divisor_r) / 2;
    double by_inverse = 0;  // of 1 / divisor
    for (size_t f = 0; f < x_.width; f++) {
      by_inverse += static_cast<double>(dy[f]) * (static_cast<double>(x[f]) + static_cast<double>(r[f])) / 2;
      dx[f] += static_cast<T>(static_cast<double>(dy[f]) * direct);
    }
    // The multiplier of the norm: the change of the inverse over that of the norm, also where a divisor stands in.
    const double change = 1 / divisor - 1 / divisor_r;
    if (change == 0) return;
    const double by_norm = by_inverse * change / (norm - norm_r);
    if (norm_ == Norm::max) {
      // max(x) - max(r) lies between the changes of the two features that hold the maxima.
      const size_t a = largest(x);
      const size_t b = largest(r);
      const double ahead = static_cast<double>(x[a]) - static_cast<double>(x[b]);
      const double behind = static_cast<double>(r[b]) - static_cast<double>(r[a]);
      const double share = ahead + behind > 0 ? ahead / (ahead + behind) : 0.5;
      dx[a] += static_cast<T>(by_norm * share);
      dx[b] += static_cast<T>(by_norm * (1 - share));
      return;
    }
    for (size_t f = 0; f < x_.width; f++) {
      const auto at = static_cast<double>(x[f]);
      const auto at_r = static_cast<double>(r[f]);
      const double slope = norm_ == Norm::l2 ? (at + at_r) / (norm + norm_r)
                           : at == at_r      ? sign(at)
                                             : (std::abs(at) - std::abs(at_r)) / (at - at_r);
      dx[f] += static_cast<T>(by_norm * slope);
    }
  }

  TableInput x_;
  Norm norm_ = Norm::max;
};

}  // namespace

std::unique_ptr<Kernel> make_normalizer(NodeSetup& setup) { return std::make_unique<Normalizer>(setup); }

}  // namespace assay

// AveragePool: the mean of every window, over 1 to 3 spatial dimensions; windows as in window.h (dilations from opset
// 19). The divisor is the number of elements inside the input or, with count_include_pad, inside the input and the
// padding that was asked for; what ceil_mode adds beyond never counts, as in PyTorch. A window that lies in the padding
// alone gives NaN (0 with count_include_pad). Sums of float32 are taken in float64. Linear.
#include <utility>

#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/pool.h"

namespace assay {
namespace {

class AveragePool final : public Kernel, public KernelCost {
 public:
  AveragePool(OnnxElement type, PoolPlan plan, bool count_padding)
      : type_(type), plan_(std::move(plan)), count_padding_(count_padding) {}

  void forward(const Buffers& values) const override {
    if (type_ == OnnxElement::float64) {
      fold<double>(values);
    } else {
      fold<float>(values);
    }
  }
  bool differentiable(size_t input) const override { return input == 0; }
  size_t held_bytes() const override { return plan_.held_bytes(); }
  uint64_t further_steps() const override { return plan_.steps(); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }
  void backward(const Buffers&, const Gradients& gradients) const override {
    if (type_ == OnnxElement::float64) {
      spread<double>(gradients);
    } else {
      spread<float>(gradients);
    }
  }

 private:
  double divisor(size_t d, size_t h, size_t w) const {
    double product = 1;
    const size_t at[3] = {d, h, w};
    for (size_t i = 0; i < 3; i++) {
      const PoolPlan::Side& side = plan_.side(i);
      product *= static_cast<double>((count_padding_ ? side.padded_taps : side.taps)[at[i]]);
    }
    return product;
  }

  // Calls body(output, its left elements of the input) for all windows of 2 x 2.
  template <class Body>
  void for_each_square(const Body& body) const {
    const auto width = static_cast<size_t>(plan_.side(2).input);
    const auto lines = static_cast<size_t>(plan_.side(1).output), columns = static_cast<size_t>(plan_.side(2).output);
    size_t output = 0;
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      for (size_t line = 0; line < lines; line++) {
        const size_t upper = plane * plan_.input_plane() + 2 * line * width;
        for (size_t i = 0; i < columns; i++) body(output++, upper + 2 * i, upper + width + 2 * i);
      }
    }
  }

  template <class T>
  void fold(const Buffers& values) const {
    const T* x = values.in<T>(0);
    T* y = values.out<T>(0);
    if (plan_.two_by_two()) {
      for_each_square([=](size_t output, size_t upper, size_t lower) {
        const double left = static_cast<double>(x[upper]) + static_cast<double>(x[lower]);
        const double right = static_cast<double>(x[upper + 1]) + static_cast<double>(x[lower + 1]);
        y[output] = static_cast<T>((left + right) / 4);
      });
      return;
    }
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      plan_.for_each_window([&](size_t output, size_t d, size_t h, size_t w) {
        double sum = 0;
        plan_.for_each_element(d, h, w, [&](size_t position) { sum += static_cast<double>(x[position]); });
        y[output] = static_cast<T>(sum / divisor(d, h, w));
      });
      x += plan_.input_plane();
      y += plan_.output_plane();
    }
  }

  template <class T>
  void spread(const Gradients& gradients) const {
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    if (plan_.two_by_two()) {
      for_each_square([=](size_t output, size_t upper, size_t lower) {
        const T share = dy[output] / 4;
        dx[upper] += share;
        dx[upper + 1] += share;
        dx[lower] += share;
        dx[lower + 1] += share;
      });
      return;
    }
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      plan_.for_each_window([&](size_t output, size_t d, size_t h, size_t w) {
        const T share = static_cast<T>(static_cast<double>(dy[output]) / divisor(d, h, w));
        plan_.for_each_element(d, h, w, [&](size_t position) { dx[position] += share; });
      });
      dx += plan_.input_plane();
      dy += plan_.output_plane();
    }
  }

  OnnxElement type_;
  PoolPlan plan_;
  bool count_padding_;
};

}  // namespace

std::unique_ptr<Kernel> make_average_pool(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const OnnxElement type = setup.floating_input(0).type;
  PoolPlan plan = PoolPlan::make(setup);
  return std::make_unique<AveragePool>(type, std::move(plan), setup.flag("count_include_pad", false));
}

}  // namespace assay

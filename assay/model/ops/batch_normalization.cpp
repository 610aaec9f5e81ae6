// BatchNormalization at inference: y = (x - mean) / sqrt(var + epsilon) * scale + B for every channel (dimension 2).
// Opset 7 has the attribute `spatial`, whose 0 (statistics for every element) is refused; before opset 14 training is
// asked for by more outputs, from then on by training_mode = 1: both are refused. Opset 15 allows other types for the
// parameters: here all are float32 or all float64. Affine in x, so DeepLift's multipliers by x are the derivatives.
#include <fmt/format.h>

#include <cmath>

#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

class BatchNormalization final : public Kernel {
 public:
  // x is batch x channels x inner.
  BatchNormalization(OnnxElement type, size_t batch, size_t channels, size_t inner, float epsilon)
      : type_(type), batch_(batch), channels_(channels), inner_(inner), epsilon_(epsilon) {}

  void forward(const Buffers& values) const override {
    if (type_ == OnnxElement::float64) {
      normalise<double>(values);
    } else {
      normalise<float>(values);
    }
  }
  bool differentiable(size_t input) const override { return input < 5; }
  std::optional<AffineForm> affine_form(const std::vector<bool>& changes) const override {
    for (size_t i = 1; i < 5; i++) {
      if (changes[i]) return {};
    }
    return AffineForm{.coefficients = {1, 4}};  // scale, and the variance, which is not negative
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    if (type_ == OnnxElement::float64) {
      pull_back<double>(values, gradients);
    } else {
      pull_back<float>(values, gradients);
    }
  }

  // For every channel: its factor, and two sums.
  size_t scratch_bytes() const override { return channels_ * 3 * sizeof(double); }

 private:
  template <class T>
  double inverse_deviation(const Buffers& values, size_t channel) const {
    return 1 / std::sqrt(static_cast<double>(values.in<T>(4)[channel]) + static_cast<double>(epsilon_));
  }
  template <class T>
  const T* factors(const Buffers& values) const {
    T* factor = reinterpret_cast<T*>(values.scratch);
    for (size_t channel = 0; channel < channels_; channel++) {
      const auto scale = static_cast<double>(values.in<T>(1)[channel]);
      factor[channel] = static_cast<T>(scale * inverse_deviation<T>(values, channel));
    }
    return factor;
  }
  // Calls body(element, channel) for all; along the channels where those lie side by side.
  template <class Body>
  void for_each(const Body& body) const {
    size_t i = 0;
    for (size_t row = 0; row < batch_; row++) {
      if (inner_ == 1) {
        for (size_t channel = 0; channel < channels_; channel++) body(i + channel, channel);
        i += channels_;
        continue;
      }
      for (size_t channel = 0; channel < channels_; channel++) {
        for (const size_t end = i + inner_; i < end; i++) body(i, channel);
      }
    }
  }

  template <class T>
  void normalise(const Buffers& values) const {
    const T *x = values.in<T>(0), *offset = values.in<T>(2), *mean = values.in<T>(3);
    const T* factor = factors<T>(values);
    T* y = values.out<T>(0);
    for_each([=](size_t i, size_t channel) { y[i] = (x[i] - mean[channel]) * factor[channel] + offset[channel]; });
  }

  template <class T>
  void pull_back(const Buffers& values, const Gradients& gradients) const {
    const T* dy = gradients.out<T>(0);
    if (dy == nullptr) return;
    if (T* dx = gradients.in<T>(0)) {
      const T* factor = factors<T>(values);
      for_each([=](size_t i, size_t channel) { dx[i] += dy[i] * factor[channel]; });
    }
    T *d_scale = gradients.in<T>(1), *d_offset = gradients.in<T>(2), *d_mean = gradients.in<T>(3),
      *d_variance = gradients.in<T>(4);
    if (d_scale == nullptr && d_offset == nullptr && d_mean == nullptr && d_variance == nullptr) return;
    double* sum = reinterpret_cast<double*>(values.scratch) + channels_;
    double* product = sum + channels_;
    for (size_t channel = 0; channel < channels_; channel++) sum[channel] = product[channel] = 0;
    const T *x = values.in<T>(0), *mean = values.in<T>(3);
    for_each([=](size_t i, size_t channel) {
      sum[channel] += static_cast<double>(dy[i]);
      product[channel] += static_cast<double>(dy[i]) * static_cast<double>(x[i] - mean[channel]);
    });
    for (size_t channel = 0; channel < channels_; channel++) {
      const auto scale = static_cast<double>(values.in<T>(1)[channel]);
      const double inverse = inverse_deviation<T>(values, channel);
      if (d_scale != nullptr) d_scale[channel] += static_cast<T>(product[channel] * inverse);
      if (d_offset != nullptr) d_offset[channel] += static_cast<T>(sum[channel]);
      if (d_mean != nullptr) d_mean[channel] -= static_cast<T>(sum[channel] * scale * inverse);
      if (d_variance != nullptr) {
        d_variance[channel] -= static_cast<T>(product[channel] * scale * inverse * inverse * inverse / 2);
      }
    }
  }

  OnnxElement type_;
  size_t batch_, channels_, inner_;
  float epsilon_;
};

}  // namespace

std::unique_ptr<Kernel> make_batch_normalization(NodeSetup& setup) {
  setup.expect_inputs(5, 5);
  setup.expect_outputs(1, 5);
  if (setup.opset() >= 14 && setup.flag("training_mode", false)) {
    setup.fail("training_mode must be 0, found 1; export the model for inference");
  }
  for (size_t i = 1; i < 5; i++) {
    if (setup.wants_output(i)) {
      setup.fail("expected 1 output, found those of training; export the model for inference");
    }
  }
  if (setup.opset() < 9 && !setup.flag("spatial", true)) {
    setup.fail("attribute 'spatial' must be 1 (statistics for every channel), found 0");
  }
  const ValueInfo& x = setup.floating_input(0);
  setup.expect_rank(0, 1, 64);
  // A single dimension is the batch of one channel.
  const int64_t channels = x.dims.size() == 1 ? 1 : x.dims[1];
  for (size_t i = 1; i < 5; i++) {
    const ValueInfo& parameter = setup.typed_input(i, x.type);
    if (parameter.dims != Shape{channels}) {
      setup.fail(fmt::format("input {} must have one number for each of {} channels, found {}", i + 1, channels,
                             onnx_shape_text(parameter.dims)));
    }
  }
  setup.set_output(0, x.type, x.dims);
  setup.checked_bytes(static_cast<size_t>(channels), 3 * sizeof(double));
  const size_t inner = x.dims.size() == 1 ? 1 : element_count(x.dims, 2, x.dims.size());
  return std::make_unique<BatchNormalization>(x.type, static_cast<size_t>(x.dims[0]), static_cast<size_t>(channels),
                                              inner, setup.real("epsilon", 1e-5F));
}

}  // namespace assay

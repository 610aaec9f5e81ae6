// Relu and LeakyRelu in float32 with vector code; everything else as for other functions of one variable.
#pragma once

#include <memory>
#include <utility>

#include "assay/model/kernels/elementwise.h"
#include "assay/model/ops/unary.h"

namespace assay {

// Function: as for UnaryOf, with leaky_slope().
template <class Function>
class LeakyOf final : public UnaryKernel {
 public:
  LeakyOf(Function function, OnnxElement type, size_t count)
      : slope_(function.leaky_slope()), type_(type), count_(count), plain_(std::move(function), type, count) {}

  void forward(const Buffers& values) const override {
    if (type_ != OnnxElement::float32) return plain_.forward(values);
    leaky_relu(values.in<float>(0), values.out<float>(0), slope_, count_);
  }
  bool differentiable(size_t) const override { return true; }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    if (type_ != OnnxElement::float32) return plain_.backward(values, gradients);
    leaky_relu_gradient(values.in<float>(0), gradients.out<float>(0), gradients.in<float>(0), slope_, count_, true);
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if (type_ != OnnxElement::float32) return plain_.rescale(values, reference, multipliers);
    leaky_relu_rescale({values.in<float>(0), values.out<float>(0), reference.in<float>(0), reference.out<float>(0)},
                       multipliers.out<float>(0), multipliers.in<float>(0), slope_, count_, true);
  }
  void apply(const float* x, float* y, size_t count) const override { leaky_relu(x, y, slope_, count); }
  void pull_back(const float* x, const float* /*y*/, const float* dy, float* dx, size_t count) const override {
    leaky_relu_gradient(x, dy, dx, slope_, count, false);
  }
  void rescale_back(const float* x, const float* y, const float* reference, const float* y_reference, const float* dy,
                    float* dx, size_t count) const override {
    leaky_relu_rescale({x, y, reference, y_reference}, dy, dx, slope_, count, false);
  }
  void spread(const Buffers& values, const Buffers& reference, const void* spread_x, void* spread_y) const override {
    plain_.spread(values, reference, spread_x, spread_y);
  }
  void reveal(const Buffers& values, const Buffers& reference, const void* spread_x, const Gradients& mean,
              const Gradients& contrast) const override {
    plain_.reveal(values, reference, spread_x, mean, contrast);
  }
  float leaky_slope() const override { return slope_; }

 private:
  float slope_;
  OnnxElement type_;
  size_t count_;
  UnaryOf<Function> plain_;
};

// One floating input, one output like it.
template <class Function>
std::unique_ptr<Kernel> make_leaky(NodeSetup& setup, Function function) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& x = setup.floating_input(0);
  setup.set_output(0, x.type, x.dims);
  return std::make_unique<LeakyOf<Function>>(std::move(function), x.type, x.count());
}

}  // namespace assay

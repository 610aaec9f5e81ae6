// ArrayFeatureExtractor (ai.onnx.ml): z[..., j] = x[..., y[j]]: columns of the last dimension, in the order of y; a
// column may come more than once. x without rows gives one row, as in onnxruntime.
#include <fmt/format.h>

#include "assay/core/error.h"
#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

class ArrayFeatureExtractor final : public Kernel {
 public:
  explicit ArrayFeatureExtractor(NodeSetup& setup) {
    setup.expect_inputs(2, 2);
    setup.expect_outputs(1, 1);
    const ValueInfo& x = setup.input(0);
    const ValueInfo& y = setup.typed_input(1, OnnxElement::int64);
    setup.expect_rank(0, 1);
    type_ = x.type;
    where_ = setup.where();
    width_ = static_cast<size_t>(x.dims.back());
    rows_ = element_count(x.dims, 0, x.dims.size() - 1);
    chosen_ = y.count();
    if (chosen_ == 0) setup.fail("the indices (input 2) are empty");
    Shape dims = x.dims;
    if (dims.size() == 1) dims.insert(dims.begin(), 1);
    dims.back() = static_cast<int64_t>(chosen_);
    setup.set_output(0, type_, dims);
    if (y.constant != nullptr) check(y.constant->data<int64_t>());
  }

  void forward(const Buffers& values) const override {
    const auto* chosen = values.in<int64_t>(1);
    check(chosen);
    with_element(type_, [&]<class T>() {
      const T* x = values.in<T>(0);
      T* z = values.out<T>(0);
      for (size_t i = 0; i < rows_; i++, x += width_, z += chosen_) {
        for (size_t j = 0; j < chosen_; j++) z[j] = x[chosen[j]];
      }
    });
  }
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    if (gradients.out<void>(0) == nullptr || gradients.in<void>(0) == nullptr) return;
    const auto* chosen = values.in<int64_t>(1);
    const auto add = [&]<class T>() {
      const T* dz = gradients.out<T>(0);
      T* dx = gradients.in<T>(0);
      for (size_t i = 0; i < rows_; i++, dx += width_, dz += chosen_) {
        for (size_t j = 0; j < chosen_; j++) dx[chosen[j]] += dz[j];
      }
    };
    type_ == OnnxElement::float64 ? add.operator()<double>() : add.operator()<float>();
  }

 private:
  void check(const int64_t* chosen) const {
    for (size_t j = 0; j < chosen_; j++) {
      if (chosen[j] >= 0 && chosen[j] < static_cast<int64_t>(width_)) continue;
      fail_input(fmt::format("{}: index {} is outside the {} columns of the input", where_, chosen[j], width_));
    }
  }

  OnnxElement type_;
  std::string where_;
  size_t rows_ = 0;
  size_t width_ = 0;
  size_t chosen_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_array_feature_extractor(NodeSetup& setup) {
  return std::make_unique<ArrayFeatureExtractor>(setup);
}

}  // namespace assay

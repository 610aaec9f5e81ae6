// LinearRegressor (ai.onnx.ml): Y = post_transform(X W^T + b), float32 whatever X is. A transform other than PROBIT
// has no effect on one target, as in onnxruntime. Derivatives are offered without a transform.
#include <fmt/format.h>

#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/linear_model.h"
#include "assay/model/ops/post_transform.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

class LinearRegressor final : public Kernel, public KernelCost {
 public:
  explicit LinearRegressor(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    x_ = table_input(setup, 0);
    transform_ = post_transform(setup);
    const int64_t targets = setup.integer("targets", 1);
    if (targets < 1) setup.fail(fmt::format("targets must be 1 or more, found {}", targets));
    setup.set_output(0, OnnxElement::float32, {static_cast<int64_t>(x_.rows), targets});
    scratch_ = setup.checked_bytes(static_cast<size_t>(targets), sizeof(double));
    model_ = LinearModel(setup, static_cast<size_t>(targets), x_.width, true);
  }

  void forward(const Buffers& values) const override {
    auto* const row = reinterpret_cast<double*>(values.scratch);
    float* y = values.out<float>(0);
    with_number(x_.type, [&]<class T>() {
      const T* x = values.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++, x += x_.width, y += model_.targets()) {
        model_.apply(x, row);
        apply_post_transform(transform_, {row, model_.targets()});
        for (size_t t = 0; t < model_.targets(); t++) y[t] = static_cast<float>(row[t]);
      }
    });
  }
  bool differentiable(size_t) const override { return is_floating(x_.type) && transform_ == PostTransform::none; }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    const float* dy = gradients.out<float>(0);
    if (dy == nullptr || gradients.in<void>(0) == nullptr) return;
    auto* const row = reinterpret_cast<double*>(values.scratch);
    with_real(x_.type, [&]<class T>() {
      T* dx = gradients.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++, dx += x_.width, dy += model_.targets()) {
        for (size_t t = 0; t < model_.targets(); t++) row[t] = static_cast<double>(dy[t]);
        model_.pull_back(row, dx);
      }
    });
  }
  size_t scratch_bytes() const override { return scratch_; }
  size_t held_bytes() const override { return model_.held_bytes(); }
  uint64_t further_steps() const override { return x_.rows * model_.steps(); }

 private:
  TableInput x_;
  PostTransform transform_ = PostTransform::none;
  LinearModel model_;
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_linear_regressor(NodeSetup& setup) { return std::make_unique<LinearRegressor>(setup); }

}  // namespace assay

// LinearClassifier (ai.onnx.ml): raw scores X W^T + b, one per row of coefficients. The label is that of the largest
// (the first of equals); with one row of coefficients for two labels it is the second where the score is above 0.
// Output 2 is post_transform of the scores, float32 whatever X is; one score for two labels becomes two columns (see
// post_transform.h). multi_class has no effect, as in onnxruntime. With the engine's own attribute assay_raw = 1 it is
// the raw scores, as many columns as rows of coefficients. Derivatives are offered for raw scores and without
// transform.
#include <fmt/format.h>

#include "assay/model/ops/classifier.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/linear_model.h"
#include "assay/model/ops/post_transform.h"
#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

class LinearClassifier final : public Kernel, public KernelCost {
 public:
  explicit LinearClassifier(NodeSetup& setup) : labels_(setup, "classlabels_ints") {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 2);
    x_ = table_input(setup, 0);
    transform_ = post_transform(setup);
    raw_ = setup.flag("assay_raw", false);
    // The file does not say how many rows of coefficients there are; intercepts tell, where it has them.
    size_t targets = setup.reals("intercepts").size();
    if (targets == 0) {
      const size_t coefficients = setup.reals("coefficients").size();
      targets = coefficients == x_.width && labels_.size() == 2 ? 1 : labels_.size();
    }
    if (targets != labels_.size() && !(targets == 1 && labels_.size() == 2)) {
      setup.fail(fmt::format("expected an intercept for each of {} class labels, found {}", labels_.size(), targets));
    }
    model_ = LinearModel(setup, targets, x_.width, false);
    makes_up_ = targets == 1 && labels_.size() == 2;
    columns_ = makes_up_ && !raw_ ? 2 : targets;
    scratch_ = setup.checked_bytes(targets, sizeof(double));
    const auto rows = static_cast<int64_t>(x_.rows);
    setup.set_output(0, labels_.type(), {rows});
    if (setup.wants_output(1)) {
      setup.set_output(1, OnnxElement::float32, {rows, static_cast<int64_t>(columns_)});
    }
    if (labels_.size() == 1) labels_.pad_single();
  }

  void forward(const Buffers& values) const override {
    with_number(x_.type, [&]<class T>() {
      const T* x = values.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++, x += x_.width) row(values, x, i);
    });
  }
  bool differentiable(size_t) const override {
    return is_floating(x_.type) && (raw_ || transform_ == PostTransform::none);
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    const float* dy = gradients.out<float>(1);
    if (dy == nullptr || gradients.in<void>(0) == nullptr) return;
    auto* const slopes = reinterpret_cast<double*>(values.scratch);
    with_real(x_.type, [&]<class T>() {
      T* dx = gradients.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++, dx += x_.width, dy += columns_) {
        for (size_t t = 0; t < model_.targets(); t++) slopes[t] = static_cast<double>(dy[t]);
        // The columns are 1 - score and score.
        if (makes_up_ && !raw_) slopes[0] = static_cast<double>(dy[1]) - static_cast<double>(dy[0]);
        model_.pull_back(slopes, dx);
      }
    });
  }
  size_t scratch_bytes() const override { return scratch_; }
  size_t held_bytes() const override { return model_.held_bytes(); }
  uint64_t further_steps() const override { return x_.rows * model_.steps(); }

 private:
  template <class T>
  void row(const Buffers& values, const T* x, size_t i) const {
    auto* const scores = reinterpret_cast<double*>(values.scratch);
    const size_t targets = model_.targets();
    model_.apply(x, scores);
    // Labels follow from what is written: scores that are equal there are equal.
    for (size_t t = 0; t < targets; t++) scores[t] = static_cast<double>(static_cast<float>(scores[t]));
    if (values.out<void>(0) != nullptr) {
      size_t best = 0;
      for (size_t t = 1; t < targets; t++) {
        if (scores[t] > scores[best]) best = t;
      }
      labels_.write(values.out<void>(0), i, targets > 1 ? best : (scores[0] > 0 ? 1 : 0));
    }
    if (values.out<void>(1) == nullptr) return;
    float* out = values.out<float>(1) + i * columns_;
    double both[2];
    const double* written = scores;
    if (makes_up_ && !raw_) {
      apply_post_transform_binary(transform_, scores[0], true, both);
      written = both;
    } else if (!raw_) {
      apply_post_transform(transform_, {scores, targets});
    }
    for (size_t c = 0; c < columns_; c++) out[c] = static_cast<float>(written[c]);
  }

  TableInput x_;
  ClassLabels labels_;
  PostTransform transform_ = PostTransform::none;
  LinearModel model_;
  bool raw_ = false;
  bool makes_up_ = false;  // the second column
  size_t columns_ = 0;
  size_t scratch_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_linear_classifier(NodeSetup& setup) { return std::make_unique<LinearClassifier>(setup); }

}  // namespace assay

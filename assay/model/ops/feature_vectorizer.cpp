// FeatureVectorizer (ai.onnx.ml): the inputs' columns side by side, float32 whatever they are. inputdimensions says how
// many columns each takes: an input with more loses the rest, one with fewer is filled up with zeros, as in
// onnxruntime; without it each takes its own. More than two dimensions count as rows and columns, one dimension as one
// row.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

struct Part {
  OnnxElement type;
  size_t width;  // of the input
  size_t taken;  // columns of it in the output
  size_t first;  // column of the output
};

class FeatureVectorizer final : public Kernel {
 public:
  explicit FeatureVectorizer(NodeSetup& setup) {
    setup.expect_inputs(1, SIZE_MAX);
    setup.expect_outputs(1, 1);
    const std::vector<int64_t> wanted = setup.integers("inputdimensions");
    if (!wanted.empty() && wanted.size() != setup.input_count()) {
      setup.fail(fmt::format("inputdimensions must hold {} numbers, one for each input; found {}", setup.input_count(),
                             wanted.size()));
    }
    for (size_t i = 0; i < setup.input_count(); i++) {
      const ValueInfo& x = setup.input(i);
      expect_number(setup, i);
      setup.expect_rank(i, 1);
      const size_t rows = x.dims.size() == 1 ? 1 : static_cast<size_t>(x.dims[0]);
      if (i == 0) rows_ = rows;
      if (rows != rows_) setup.fail(fmt::format("input {} has {} rows, the first input has {}", i + 1, rows, rows_));
      const size_t width = element_count(x.dims, x.dims.size() == 1 ? 0 : 1, x.dims.size());
      const int64_t columns = wanted.empty() ? static_cast<int64_t>(width) : wanted[i];
      if (columns < 0 || columns > kMostElements || static_cast<int64_t>(width_) > kMostElements) {
        setup.fail(fmt::format("input {} cannot take {} columns", i + 1, columns));
      }
      const auto room = static_cast<size_t>(columns);
      parts_.push_back({x.type, width, std::min(width, room), width_});
      width_ += room;
    }
    setup.set_output(0, OnnxElement::float32, {static_cast<int64_t>(rows_), static_cast<int64_t>(width_)});
  }

  void forward(const Buffers& values) const override {
    std::fill_n(values.out<float>(0), rows_ * width_, 0.0F);
    for (size_t i = 0; i < parts_.size(); i++) {
      const Part& part = parts_[i];
      with_number(part.type, [&]<class T>() {
        const T* x = values.in<T>(i);
        float* y = values.out<float>(0) + part.first;
        for (size_t row = 0; row < rows_; row++, x += part.width, y += width_) {
          for (size_t f = 0; f < part.taken; f++) y[f] = static_cast<float>(x[f]);
        }
      });
    }
  }
  bool differentiable(size_t input) const override { return is_floating(parts_[input].type); }
  void backward(const Buffers&, const Gradients& gradients) const override {
    if (gradients.out<float>(0) == nullptr) return;
    for (size_t i = 0; i < parts_.size(); i++) {
      const Part& part = parts_[i];
      if (gradients.in<void>(i) == nullptr) continue;
      with_real(part.type, [&]<class T>() {
        const float* dy = gradients.out<float>(0) + part.first;
        T* dx = gradients.in<T>(i);
        for (size_t row = 0; row < rows_; row++, dx += part.width, dy += width_) {
          for (size_t f = 0; f < part.taken; f++) dx[f] += static_cast<T>(dy[f]);
        }
      });
    }
  }

 private:
  std::vector<Part> parts_;
  size_t rows_ = 0;
  size_t width_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_feature_vectorizer(NodeSetup& setup) { return std::make_unique<FeatureVectorizer>(setup); }

}  // namespace assay

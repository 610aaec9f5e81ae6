// Scaler (ai.onnx.ml): y = (x - offset) * scale, float32 whatever x is; offset and scale hold one number for all
// features or one for each, and are 0 and 1 when left out. Computed in double and rounded once for float64 and whole
// numbers, in float32 for float32, as onnxruntime does.
#include <fmt/format.h>

#include <string_view>
#include <type_traits>
#include <vector>

#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

class Scaler final : public Kernel {
 public:
  explicit Scaler(NodeSetup& setup) {
    setup.expect_inputs(1, 1);
    setup.expect_outputs(1, 1);
    x_ = table_input(setup, 0);
    setup.set_output(0, OnnxElement::float32, setup.input(0).dims);
    offset_ = per_feature(setup, "offset", 0);
    scale_ = per_feature(setup, "scale", 1);
  }

  void forward(const Buffers& values) const override {
    with_number(x_.type, [&]<class T>() {
      using Wide = std::conditional_t<std::is_same_v<T, float>, float, double>;
      const T* x = values.in<T>(0);
      float* y = values.out<float>(0);
      for (size_t i = 0; i < x_.rows; i++, x += x_.width, y += x_.width) {
        for (size_t f = 0; f < x_.width; f++) {
          y[f] = static_cast<float>((static_cast<Wide>(x[f]) - static_cast<Wide>(offset_[f])) *
                                    static_cast<Wide>(scale_[f]));
        }
      }
    });
  }
  bool differentiable(size_t) const override { return is_floating(x_.type); }
  void backward(const Buffers&, const Gradients& gradients) const override {
    const float* dy = gradients.out<float>(0);
    if (dy == nullptr || gradients.in<void>(0) == nullptr) return;
    with_real(x_.type, [&]<class T>() {
      T* dx = gradients.in<T>(0);
      for (size_t i = 0; i < x_.rows; i++, dx += x_.width, dy += x_.width) {
        for (size_t f = 0; f < x_.width; f++) dx[f] += static_cast<T>(scale_[f]) * static_cast<T>(dy[f]);
      }
    });
  }

 private:
  std::vector<float> per_feature(const NodeSetup& setup, std::string_view name, float fallback) const {
    std::vector<float> values = setup.reals(name);
    if (values.empty()) values = {fallback};
    if (values.size() != 1 && values.size() != x_.width) {
      setup.fail(
          fmt::format("{} must hold 1 number or {}, one for each feature; found {}", name, x_.width, values.size()));
    }
    if (values.size() != x_.width) values.assign(x_.width, float{values[0]});
    return values;
  }

  TableInput x_;
  std::vector<float> offset_;
  std::vector<float> scale_;
};

}  // namespace

std::unique_ptr<Kernel> make_scaler(NodeSetup& setup) { return std::make_unique<Scaler>(setup); }

}  // namespace assay

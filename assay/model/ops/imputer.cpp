// Imputer (ai.onnx.ml): every element that equals replaced_value (NaN equals NaN) becomes imputed_value: one for all
// features or one for each, as floats for float32 and float64, as int64s for whole numbers. Gradients pass where
// nothing was replaced. DeepLift: the quotient of differences, 0 where one is not finite (a NaN that was replaced has
// no difference from its reference).
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/model/ops/tabular.h"

namespace assay {
namespace {

template <class T>
class Imputer final : public Kernel {
 public:
  Imputer(const NodeSetup& setup, const TableInput& x, T replaced, std::vector<T> imputed)
      : x_(x), replaced_(replaced), imputed_(std::move(imputed)) {
    if (imputed_.size() != 1 && imputed_.size() != x_.width) {
      setup.fail(
          fmt::format("expected 1 imputed value or {}, one for each feature; found {}", x_.width, imputed_.size()));
    }
    if (imputed_.size() != x_.width) imputed_.assign(x_.width, T{imputed_[0]});
  }

  void forward(const Buffers& values) const override {
    const T* x = values.in<T>(0);
    T* y = values.out<T>(0);
    for (size_t i = 0; i < x_.rows; i++, x += x_.width, y += x_.width) {
      for (size_t f = 0; f < x_.width; f++) y[f] = is_replaced(x[f]) ? imputed_[f] : x[f];
    }
  }
  bool differentiable(size_t) const override { return is_floating(x_.type); }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    const T* x = values.in<T>(0);
    for (size_t i = 0; i < x_.rows * x_.width; i++) dx[i] += is_replaced(x[i]) ? T(0) : dy[i];
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* dy = multipliers.out<T>(0);
      T* dx = multipliers.in<T>(0);
      if (dy == nullptr || dx == nullptr) return;
      const T* x = values.in<T>(0);
      const T* r = reference.in<T>(0);
      for (size_t i = 0; i < x_.rows * x_.width; i++) {
        const bool from_x = !is_replaced(x[i]);
        const bool from_r = !is_replaced(r[i]);
        T multiplier = from_x ? T(1) : T(0);
        if (from_x != from_r) {
          multiplier = (values.out<T>(0)[i] - reference.out<T>(0)[i]) / (x[i] - r[i]);
          if (!std::isfinite(multiplier)) multiplier = 0;
        }
        dx[i] += multiplier * dy[i];
      }
    }
  }

 private:
  bool is_replaced(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(replaced_)) return std::isnan(x);
    }
    return x == replaced_;
  }

  TableInput x_;
  T replaced_;
  std::vector<T> imputed_;
};

}  // namespace

std::unique_ptr<Kernel> make_imputer(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const TableInput x = table_input(setup, 0);
  setup.set_output(0, x.type, setup.input(0).dims);
  return with_number(x.type, [&]<class T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::is_floating_point_v<T>) {
      const std::vector<float> imputed = setup.reals("imputed_value_floats");
      return std::make_unique<Imputer<T>>(setup, x, static_cast<T>(setup.real("replaced_value_float", 0)),
                                          std::vector<T>(imputed.begin(), imputed.end()));
    } else {
      const auto narrow = [&](int64_t value) {
        if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
          setup.fail(fmt::format("the input is INT32, which cannot hold the value {}", value));
        }
        return static_cast<T>(value);
      };
      std::vector<T> imputed;
      for (const int64_t value : setup.integers("imputed_value_int64s")) imputed.push_back(narrow(value));
      const T replaced = narrow(setup.integer("replaced_value_int64", 0));
      return std::make_unique<Imputer<T>>(setup, x, replaced, std::move(imputed));
    }
  });
}

}  // namespace assay

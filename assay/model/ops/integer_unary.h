// The forward half of elementwise operators for the integers that ONNX allows some of them. They have no derivatives.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/model/ops/unary.h"

namespace assay {

// -x, which wraps around for the smallest number, where the negative of a signed type would be undefined.
template <std::integral T>
T wrapped_negative(T x) {
  return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
}

template <class T, class Function>
class IntegerUnary final : public Kernel {
 public:
  explicit IntegerUnary(size_t count) : count_(count) {}
  void forward(const Buffers& values) const override {
    const T* x = values.in<T>(0);
    T* y = values.out<T>(0);
    for (size_t i = 0; i < count_; i++) y[i] = Function().template value<T>(x[i]);
  }

 private:
  size_t count_;
};

// A kernel for float32, float64 and every type that with_element offers and `allowed` accepts.
template <class Function, class Allowed>
std::unique_ptr<Kernel> make_numeric_unary(NodeSetup& setup, std::string_view kinds, const Allowed& allowed) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& x = setup.input(0);
  if (is_floating(x.type)) return make_unary(setup, Function{});
  if (!allowed(x.type)) {
    setup.fail("input 1 must be " + std::string(kinds) + ", found " + std::string(onnx_type_name(x.type)));
  }
  setup.set_output(0, x.type, x.dims);
  return with_element(x.type, [&]<class T>() -> std::unique_ptr<Kernel> {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      return std::make_unique<IntegerUnary<T, Function>>(x.count());
    }
    return nullptr;
  });
}

}  // namespace assay

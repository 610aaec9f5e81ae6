// ConstantOfShape: one number, the only element of the tensor `value` (0 of float32 without it), in the dimensions of
// the constant input.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class ConstantOfShapeKernel final : public Kernel {
 public:
  ConstantOfShapeKernel(Tensor value, size_t count) : value_(std::move(value)), count_(count) {}

  void forward(const Buffers& values) const override {
    with_element(value_.type(), [&]<class T>() { std::fill_n(values.out<T>(0), count_, *value_.data<T>()); });
  }

 private:
  Tensor value_;
  size_t count_;
};

}  // namespace

std::unique_ptr<Kernel> make_constant_of_shape(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const Shape dims = setup.constant_integers(0, "shape");
  expect_output_rank(setup, dims.size());
  const OnnxTensor* given = setup.tensor("value");
  Tensor value = given == nullptr ? Tensor(OnnxElement::float32, {1}) : Tensor::from_onnx(setup.where(), *given);
  if (value.count() != 1) setup.fail(fmt::format("its value must be one element, found {}", value.count()));
  setup.set_output(0, value.type(), dims);
  return std::make_unique<ConstantOfShapeKernel>(std::move(value), element_count(dims));
}

}  // namespace assay

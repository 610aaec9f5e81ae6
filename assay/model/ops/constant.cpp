// Constant: a value that the node brings as an attribute: a tensor (value), or from opset 12 on also one number or text
// (value_float, value_int, value_string) or a list of them (value_floats, ...). Sparse tensors are refused.
#include <fmt/format.h>

#include <string>

#include "assay/core/text.h"
#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class ConstantKernel final : public Kernel {
 public:
  explicit ConstantKernel(Tensor value) : value_(std::move(value)) {}

  void forward(const Buffers& values) const override {
    copy_elements(value_.type(), value_.count(), value_.raw(), values.out<void>(0));
  }

 private:
  Tensor value_;
};

Tensor read_value(const NodeSetup& setup) {
  const auto& attributes = setup.node().attributes;
  if (attributes.size() != 1) {
    setup.fail(fmt::format("expected one attribute that holds the value, found {}", attributes.size()));
  }
  const std::string& name = attributes[0].name;
  if (name == "value") {
    // Null when the file leaves the tensor out of its attribute.
    if (const OnnxTensor* tensor = setup.tensor(name)) return Tensor::from_onnx(setup.where(), *tensor);
    setup.fail("expected a tensor as its value, found none");
  }
  if (name == "value_float") return Tensor::of<float>({}, {setup.real(name, 0)});
  if (name == "value_int") return Tensor::of<int64_t>({}, {setup.integer(name, 0)});
  if (name == "value_string") return Tensor::of<std::string>({}, {setup.text(name, "")});
  if (name == "value_floats") return Tensor::list_of(setup.reals(name));
  if (name == "value_ints") return Tensor::list_of(setup.integers(name));
  if (name == "value_strings") return Tensor::list_of(setup.texts(name));
  if (name == "sparse_value") setup.fail("its value is a sparse tensor, which the engine does not compute with");
  setup.fail(fmt::format("expected an attribute that holds the value, found {}", in_quotes(name)));
}

}  // namespace

std::unique_ptr<Kernel> make_constant(NodeSetup& setup) {
  setup.expect_inputs(0, 0);
  setup.expect_outputs(1, 1);
  Tensor value = read_value(setup);
  setup.set_output(0, value.type(), value.dims());
  return std::make_unique<ConstantKernel>(std::move(value));
}

}  // namespace assay

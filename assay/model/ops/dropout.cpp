// Dropout as it is when a model is used, not trained: y = x, and the mask of output 2 keeps every element.
// The mask is of the input's type before opset 10 and boolean from then on. From opset 12 on a node can ask for
// training itself: then elements would be dropped at random, which is refused unless the ratio is 0.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class DropoutKernel final : public CopyKernel {
 public:
  DropoutKernel(OnnxElement type, OnnxElement mask, size_t count) : CopyKernel(type, count), mask_(mask) {}

  void forward(const Buffers& values) const override {
    CopyKernel::forward(values);
    if (values.out<void>(1) == nullptr) return;
    if (mask_ == OnnxElement::float64) {
      std::fill_n(values.out<double>(1), count(), 1.0);
    } else if (mask_ == OnnxElement::float32) {
      std::fill_n(values.out<float>(1), count(), 1.0F);
    } else {
      std::fill_n(values.out<bool>(1), count(), true);
    }
  }

 private:
  OnnxElement mask_;
};

bool drops_elements(const NodeSetup& setup) {
  if (setup.opset() < 12 || !setup.has_input(2)) return false;
  setup.typed_input(2, OnnxElement::boolean);
  const Tensor& training = setup.constant_input(2, "training_mode");
  if (training.count() != 1) setup.fail(fmt::format("training_mode must be one value, found {}", training.count()));
  if (!*training.data<bool>()) return false;
  if (!setup.has_input(1)) return true;
  setup.floating_input(1);
  const Tensor& ratio = setup.constant_input(1, "ratio");
  if (ratio.count() != 1) setup.fail(fmt::format("ratio must be one value, found {}", ratio.count()));
  return (ratio.type() == OnnxElement::float64 ? *ratio.data<double>() : *ratio.data<float>()) != 0;
}

}  // namespace

std::unique_ptr<Kernel> make_dropout(NodeSetup& setup) {
  setup.expect_inputs(1, setup.opset() < 12 ? 1 : 3);
  setup.expect_outputs(1, 2);
  const ValueInfo& data = setup.floating_input(0);
  if (drops_elements(setup)) {
    setup.fail("training_mode is true, which drops elements at random; export the model for inference");
  }
  const OnnxElement mask = setup.opset() < 10 ? data.type : OnnxElement::boolean;
  if (setup.wants_output(0)) setup.set_output(0, data.type, data.dims);
  if (setup.wants_output(1)) setup.set_output(1, mask, data.dims);
  return std::make_unique<DropoutKernel>(data.type, mask, data.count());
}

}  // namespace assay

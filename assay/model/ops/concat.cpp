// Concat: the inputs one after the other along `axis`; their other dimensions must be equal.
#include <fmt/format.h>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class ConcatKernel final : public Kernel {
 public:
  ConcatKernel(OnnxElement type, std::vector<BoxCopy> parts) : type_(type), parts_(std::move(parts)) {}

  void forward(const Buffers& values) const override {
    for (size_t i = 0; i < parts_.size(); i++) parts_[i].copy(type_, values.in<void>(i), values.out<void>(0));
  }
  bool differentiable(size_t) const override { return is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }
  void backward(const Buffers&, const Gradients& gradients) const override {
    const void* source = gradients.out<void>(0);
    if (source == nullptr) return;
    for (size_t i = 0; i < parts_.size(); i++) {
      if (gradients.in<void>(i) != nullptr) parts_[i].add_back(type_, source, gradients.in<void>(i));
    }
  }

 private:
  OnnxElement type_;
  std::vector<BoxCopy> parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_concat(NodeSetup& setup) {
  setup.expect_inputs(1, SIZE_MAX);
  setup.expect_outputs(1, 1);
  if (!setup.has_attribute("axis")) setup.fail("expected the attribute 'axis', found none");
  const ValueInfo& first = setup.input(0);
  const size_t rank = first.dims.size();
  const size_t axis = setup.axis(setup.integer("axis", 0), rank);
  Shape result = first.dims;
  result[axis] = 0;
  for (size_t i = 0; i < setup.input_count(); i++) {
    const Shape& dims = setup.typed_input(i, first.type).dims;
    bool fits = dims.size() == rank;
    for (size_t d = 0; fits && d < rank; d++) fits = d == axis || dims[d] == first.dims[d];
    if (!fits) {
      setup.fail(fmt::format("input {} ({}) and input 1 ({}) may differ along axis {} only", i + 1,
                             onnx_shape_text(dims), onnx_shape_text(first.dims), axis));
    }
    // Stops before the sum could overflow; set_output refuses what is too large.
    if (result[axis] <= kMostElements) result[axis] += dims[axis];
  }
  setup.set_output(0, first.type, result);
  const auto outer = static_cast<int64_t>(element_count(result, 0, axis));
  const auto inner = static_cast<int64_t>(element_count(result, axis + 1, rank));
  const int64_t step = result[axis] * inner;
  std::vector<BoxCopy> parts;
  int64_t offset = 0;
  for (size_t i = 0; i < setup.input_count(); i++) {
    const int64_t length = setup.input(i).dims[axis] * inner;
    parts.emplace_back(Shape{outer, length}, std::vector<int64_t>{length, 1}, 0, std::vector<int64_t>{step, 1}, offset);
    offset += length;
  }
  return std::make_unique<ConcatKernel>(first.type, std::move(parts));
}

}  // namespace assay

// Shape: the dimensions start to end - 1 of the input, as integers. Negative numbers count from the end, and both are
// clamped to 0..rank (opset 15 on; all dimensions before). The input's elements are never looked at.
#include <algorithm>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class ShapeKernel final : public Kernel {
 public:
  explicit ShapeKernel(Shape dims) : dims_(std::move(dims)) {}

  void forward(const Buffers& values) const override { std::copy(dims_.begin(), dims_.end(), values.out<int64_t>(0)); }

 private:
  Shape dims_;
};

int64_t clamped(int64_t at, int64_t rank) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); }

}  // namespace

std::unique_ptr<Kernel> make_shape(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const bool partial = setup.opset() >= 15;
  const int64_t start = partial ? clamped(setup.integer("start", 0), rank) : 0;
  const int64_t end = partial ? clamped(setup.integer("end", rank), rank) : rank;
  Shape kept;
  if (start < end) kept.assign(dims.begin() + start, dims.begin() + end);
  setup.set_output(0, OnnxElement::int64, {static_cast<int64_t>(kept.size())});
  return std::make_unique<ShapeKernel>(std::move(kept));
}

}  // namespace assay

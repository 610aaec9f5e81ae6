// Split: the input cut along `axis` into as many parts as there are outputs.
// The sizes are `split` (an attribute before opset 13, a constant input from then on) or equal. From opset 18 on
// without sizes, `num_outputs` repeats the number of outputs and the last part may be smaller.
#include <fmt/format.h>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class SplitKernel final : public Kernel {
 public:
  SplitKernel(OnnxElement type, std::vector<BoxCopy> parts) : type_(type), parts_(std::move(parts)) {}

  void forward(const Buffers& values) const override {
    for (size_t i = 0; i < parts_.size(); i++) {
      if (values.out<void>(i) != nullptr) parts_[i].copy(type_, values.in<void>(0), values.out<void>(i));
    }
  }
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }
  void backward(const Buffers&, const Gradients& gradients) const override {
    if (gradients.in<void>(0) == nullptr) return;
    for (size_t i = 0; i < parts_.size(); i++) {
      if (gradients.out<void>(i) != nullptr) parts_[i].add_back(type_, gradients.out<void>(i), gradients.in<void>(0));
    }
  }

 private:
  OnnxElement type_;
  std::vector<BoxCopy> parts_;
};

std::vector<int64_t> equal_sizes(const NodeSetup& setup, int64_t size) {
  const auto parts = static_cast<int64_t>(setup.output_count());
  const bool uneven = setup.opset() >= 18;
  if (uneven && setup.has_attribute("num_outputs") && setup.integer("num_outputs", 0) != parts) {
    setup.fail(fmt::format("num_outputs is {}, but it has {} output{}", setup.integer("num_outputs", 0), parts,
                           parts == 1 ? "" : "s"));
  }
  const int64_t each = (size + parts - 1) / parts;
  const int64_t last = size - each * (parts - 1);
  if (last < 0 || (!uneven && last != each)) {
    setup.fail(fmt::format("a dimension of {} cannot be split into {} {}", size, parts,
                           uneven ? "parts of which only the last is smaller" : "equal parts"));
  }
  std::vector<int64_t> sizes(setup.output_count(), each);
  sizes.back() = last;
  return sizes;
}

void check_sizes(const NodeSetup& setup, const std::vector<int64_t>& sizes, int64_t size) {
  if (sizes.size() != setup.output_count()) {
    setup.fail(fmt::format("split must list {} size{}, one for each output, found {}", setup.output_count(),
                           setup.output_count() == 1 ? "" : "s", sizes.size()));
  }
  int64_t left = size;
  for (const int64_t part : sizes) {
    if (part < 0 || part > left) {
      setup.fail(fmt::format("the sizes of split must add up to {}; {} does not fit", size, part));
    }
    left -= part;
  }
  if (left != 0) setup.fail(fmt::format("the sizes of split must add up to {}, found {}", size, size - left));
}

}  // namespace

std::unique_ptr<Kernel> make_split(NodeSetup& setup) {
  setup.expect_inputs(1, setup.opset() < 13 ? 1 : 2);
  if (setup.output_count() == 0) setup.fail("expected 1 or more outputs, found 0");
  const ValueInfo& data = setup.input(0);
  const size_t rank = data.dims.size();
  const size_t axis = setup.axis(setup.integer("axis", 0), rank);
  const auto given = attribute_or_input(setup, "split", 13, 1);
  if (given) check_sizes(setup, *given, data.dims[axis]);
  const std::vector<int64_t> sizes = given ? *given : equal_sizes(setup, data.dims[axis]);
  const auto outer = static_cast<int64_t>(element_count(data.dims, 0, axis));
  const auto inner = static_cast<int64_t>(element_count(data.dims, axis + 1, rank));
  const int64_t step = data.dims[axis] * inner;
  std::vector<BoxCopy> parts;
  int64_t offset = 0;
  for (size_t i = 0; i < sizes.size(); i++) {
    Shape dims = data.dims;
    dims[axis] = sizes[i];
    if (setup.wants_output(i)) setup.set_output(i, data.type, std::move(dims));
    const int64_t length = sizes[i] * inner;
    parts.emplace_back(Shape{outer, length}, std::vector<int64_t>{step, 1}, offset, std::vector<int64_t>{length, 1}, 0);
    offset += length;
  }
  return std::make_unique<SplitKernel>(data.type, std::move(parts));
}

}  // namespace assay

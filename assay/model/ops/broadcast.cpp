#include "assay/model/ops/broadcast.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

Shape broadcast_dims(const NodeSetup& setup, size_t first, size_t last) {
  Shape dims = setup.input(first).dims;
  for (size_t i = first + 1; i < last; i++) {
    const Shape& next = setup.input(i).dims;
    if (next.size() > dims.size()) dims.insert(dims.begin(), next.size() - dims.size(), 1);
    const size_t lead = dims.size() - next.size();
    for (size_t d = 0; d < next.size(); d++) {
      int64_t& common = dims[lead + d];
      if (common == 1) common = next[d];
      if (next[d] != common && next[d] != 1) {
        // Named in full only for two inputs: there may be many.
        setup.fail(fmt::format("the dimensions of input {} ({}) do not broadcast with those of {} ({})", i + 1,
                               onnx_shape_text(next), i == first + 1 ? fmt::format("input {}", i) : "the inputs before",
                               onnx_shape_text(i == first + 1 ? setup.input(first).dims : dims)));
      }
    }
  }
  return dims;
}

void expect_numbers(const NodeSetup& setup, size_t first, size_t last) {
  for (size_t i = first; i < last; i++) {
    const OnnxElement type = setup.input(i).type;
    if (type == OnnxElement::string || type == OnnxElement::boolean) {
      setup.fail(fmt::format("input {} must be a number, found {}", i + 1, onnx_type_name(type)));
    }
  }
}

void expect_one_type(const NodeSetup& setup, size_t first, size_t last) {
  for (size_t i = first + 1; i < last; i++) {
    if (setup.input(i).type == setup.input(first).type) continue;
    setup.fail(fmt::format("inputs {} and {} must be of one type, found {} and {}", first + 1, i + 1,
                           onnx_type_name(setup.input(first).type), onnx_type_name(setup.input(i).type)));
  }
}

template <size_t kOperands>
BroadcastLoops<kOperands>::BroadcastLoops(const Shape& dims, const std::array<const Shape*, kOperands>& operands)
    : count_(element_count(dims)) {
  if (count_ == 0) return;
  // From the innermost dimension outwards; one that continues the one inside it for every operand is merged with it.
  std::vector<Dimension> merged;
  Offsets next;  // the stride that an operand has in the next dimension outwards, if it has that dimension at all
  next.fill(1);
  for (size_t d = dims.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(dims[d]);
    if (size == 1) continue;
    Dimension dimension{size, {}};
    for (size_t k = 0; k < kOperands; k++) {
      const Shape& own = *operands[k];
      const size_t lead = dims.size() - own.size();
      const bool moves = d >= lead && own[d - lead] != 1;
      if (!moves) continue;
      dimension.strides[k] = next[k];
      next[k] *= size;
    }
    const auto continues = [&](const Dimension& inside) {
      for (size_t k = 0; k < kOperands; k++) {
        if (dimension.strides[k] != inside.strides[k] * inside.size) return false;
      }
      return true;
    };
    if (!merged.empty() && continues(merged.back())) {
      merged.back().size *= size;
    } else {
      merged.push_back(dimension);
    }
  }
  if (merged.empty()) {
    // One element; a stride of 1 in a run of 1 keeps to the fast loops.
    run_strides_.fill(1);
    return;
  }
  length_ = merged[0].size;
  run_strides_ = merged[0].strides;
  if (merged.size() == 1) return;
  rows_ = merged[1].size;
  row_strides_ = merged[1].strides;
  outer_.assign(merged.rbegin(), merged.rend() - 2);
}

template class BroadcastLoops<1>;
template class BroadcastLoops<2>;
template class BroadcastLoops<3>;

}  // namespace assay

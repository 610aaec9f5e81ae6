// Reshape: the same elements with the dimensions of the constant input `shape`. 0 there keeps the input's dimension
// (unless `allowzero`, opset 14 on, takes it as a size), and one -1 stands for what is left.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "assay/model/ops/movement.h"

namespace assay {
namespace {

// The product, or nothing when it is more than a value may hold.
std::optional<int64_t> product(const Shape& dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t result = 1;
  for (const int64_t dim : dims) {
    if (dim > kMostElements / result) return std::nullopt;
    result *= dim;
  }
  return result;
}

Shape output_dims(const NodeSetup& setup, const Shape& from, const std::vector<int64_t>& shape) {
  const bool zero_is_size = setup.opset() >= 14 && setup.flag("allowzero", false);
  const auto refuse = [&] {
    setup.fail(fmt::format("dimensions {} cannot be reshaped to {}", onnx_shape_text(from), onnx_shape_text(shape)));
  };
  Shape result = shape;
  // What a -1 is worth is asked of the dimensions that are not kept, so that an empty one that is kept does not matter.
  Shape given;
  Shape left = from;
  std::optional<size_t> open;
  for (size_t d = 0; d < shape.size(); d++) {
    if (shape[d] == -1) {
      if (open) setup.fail("its shape has more than one -1");
      open = d;
    } else if (shape[d] < 0) {
      setup.fail(fmt::format("its shape has the dimension {}; only -1 may be negative", shape[d]));
    } else if (shape[d] > 0 || zero_is_size) {
      given.push_back(shape[d]);
    } else {
      if (d >= from.size()) {
        setup.fail(fmt::format("its shape keeps dimension {} of the input, which has {}", d + 1, from.size()));
      }
      result[d] = from[d];
      left[d] = 1;
    }
  }
  if (open) {
    const auto count = static_cast<int64_t>(element_count(left));
    const std::optional<int64_t> known = product(given);
    if (!known || *known == 0 || count % *known != 0) refuse();
    result[*open] = count / *known;
  } else if (product(result) != static_cast<int64_t>(element_count(from))) {
    refuse();
  }
  return result;
}

}  // namespace

std::unique_ptr<Kernel> make_reshape(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  const std::vector<int64_t> shape = setup.constant_integers(1, "shape");
  expect_output_rank(setup, shape.size());
  return make_copy(setup, output_dims(setup, setup.input(0).dims, shape));
}

}  // namespace assay

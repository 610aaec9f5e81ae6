// Expand: the input repeated to the dimensions that broadcasting it with the constant input `shape` gives; a 1 in shape
// keeps the input's dimension.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/ops/movement.h"

namespace assay {

std::unique_ptr<Kernel> make_expand(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  const std::vector<int64_t> shape = setup.constant_integers(1, "shape");
  const size_t rank = std::max(dims.size(), shape.size());
  expect_output_rank(setup, rank);
  const std::vector<int64_t> strides = row_major_strides(dims);
  Shape result(rank, 1);
  std::vector<int64_t> from(rank, 0);
  for (size_t d = 0; d < rank; d++) {
    const bool in_input = d + dims.size() >= rank;
    const int64_t size = in_input ? dims[d + dims.size() - rank] : 1;
    const int64_t wanted = d + shape.size() >= rank ? shape[d + shape.size() - rank] : 1;
    if (wanted < 0 || (size != 1 && wanted != 1 && size != wanted)) {
      setup.fail(fmt::format("dimensions {} cannot be expanded to {}", onnx_shape_text(dims), onnx_shape_text(shape)));
    }
    result[d] = size == 1 ? wanted : size;
    from[d] = in_input && size != 1 ? strides[d + dims.size() - rank] : 0;
  }
  return make_box_copy(setup, result, from, 0);
}

}  // namespace assay

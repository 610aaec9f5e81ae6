// Squeeze: the same elements without the dimensions `axes`, each of size 1; without axes, without all of that size.
// axes is an attribute before opset 13 and a constant input from then on.
#include <fmt/format.h>

#include "assay/model/ops/movement.h"

namespace assay {

std::unique_ptr<Kernel> make_squeeze(NodeSetup& setup) {
  setup.expect_inputs(1, setup.opset() < 13 ? 1 : 2);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  std::vector<bool> dropped(dims.size());
  if (const auto given = attribute_or_input(setup, "axes", 13, 1)) {
    for (const size_t axis : setup.axes(*given, dims.size())) {
      if (dims[axis] != 1) {
        setup.fail(fmt::format("axis {} must be of size 1, found {} ({})", axis, dims[axis], onnx_shape_text(dims)));
      }
      dropped[axis] = true;
    }
  } else {
    for (size_t d = 0; d < dims.size(); d++) dropped[d] = dims[d] == 1;
  }
  Shape kept;
  for (size_t d = 0; d < dims.size(); d++) {
    if (!dropped[d]) kept.push_back(dims[d]);
  }
  return make_copy(setup, std::move(kept));
}

}  // namespace assay

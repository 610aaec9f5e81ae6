// Unsqueeze: the same elements with new dimensions of size 1, which are number `axes` of the output.
// axes is an attribute before opset 13 and a constant input from then on.
#include <algorithm>

#include "assay/model/ops/movement.h"

namespace assay {

std::unique_ptr<Kernel> make_unsqueeze(NodeSetup& setup) {
  setup.expect_inputs(1, setup.opset() < 13 ? 1 : 2);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  const auto given = attribute_or_input(setup, "axes", 13, 1);
  if (!given) setup.fail("expected axes, found none");
  expect_output_rank(setup, dims.size() + given->size());
  Shape result(dims.size() + given->size(), 0);
  std::vector<bool> added(result.size());
  for (const size_t axis : setup.axes(*given, result.size())) added[axis] = true;
  size_t next = 0;
  for (size_t d = 0; d < result.size(); d++) result[d] = added[d] ? 1 : dims[next++];
  return make_copy(setup, std::move(result));
}

}  // namespace assay

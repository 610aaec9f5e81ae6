// Flatten: the same elements as a matrix; its rows are the dimensions before `axis`, its columns those from it on.
// Negative axes count from the end (opset 11 on; accepted before).
#include "assay/model/ops/movement.h"

namespace assay {

std::unique_ptr<Kernel> make_flatten(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  const int64_t given = setup.integer("axis", 1);
  // One past the last dimension is allowed: everything is rows then.
  const size_t axis = given == static_cast<int64_t>(dims.size()) ? dims.size() : setup.axis(given, dims.size());
  return make_copy(setup, {static_cast<int64_t>(element_count(dims, 0, axis)),
                           static_cast<int64_t>(element_count(dims, axis, dims.size()))});
}

}  // namespace assay

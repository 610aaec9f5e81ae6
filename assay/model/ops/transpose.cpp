// Transpose: y[i_0, i_1, ...] = x[j] with j[perm[d]] = i[d], so that dimension d of the output is perm[d] of the input.
// Without perm the order of the dimensions is reversed.
#include <fmt/format.h>

#include <numeric>

#include "assay/model/ops/movement.h"

namespace assay {

std::unique_ptr<Kernel> make_transpose(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const Shape& dims = setup.input(0).dims;
  const size_t rank = dims.size();
  std::vector<int64_t> perm = setup.integers("perm");
  if (!setup.has_attribute("perm")) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  if (perm.size() != rank) {
    setup.fail(fmt::format("perm must list the {} dimension{} of the input, found {} number{}", rank,
                           rank == 1 ? "" : "s", perm.size(), perm.size() == 1 ? "" : "s"));
  }
  setup.axes(perm, rank);
  const std::vector<int64_t> strides = row_major_strides(dims);
  Shape result(rank);
  std::vector<int64_t> from(rank);
  for (size_t d = 0; d < rank; d++) {
    const size_t axis = setup.axis(perm[d], rank);
    result[d] = dims[axis];
    from[d] = strides[axis];
  }
  return make_box_copy(setup, result, from, 0);
}

}  // namespace assay

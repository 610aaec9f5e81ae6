// GlobalAveragePool: the mean of every plane, batch x channels x spatial dimensions to batch x channels x 1 x ... x 1.
// Sums of float32 are taken in float64. The mean of an empty plane is NaN.
#include <utility>
#include <vector>

#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/reduce.h"

namespace assay {

std::unique_ptr<Kernel> make_global_average_pool(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& x = setup.floating_input(0);
  setup.expect_rank(0, 2, 64);
  std::vector<size_t> axes;
  for (size_t axis = 2; axis < x.dims.size(); axis++) axes.push_back(axis);
  Reduction reduction(x.dims, axes, true);
  setup.set_output(0, x.type, reduction.output_dims());
  setup.checked_bytes(reduction.outputs(), sizeof(double));
  return make_sum_kernel(x.type, std::move(reduction), true);
}

}  // namespace assay

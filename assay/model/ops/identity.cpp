// Identity: y = x, of every type.
#include "assay/model/ops/movement.h"

namespace assay {

std::unique_ptr<Kernel> make_identity(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  return make_copy(setup, setup.input(0).dims);
}

}  // namespace assay

// ReduceSum: the sum over some axes (all when none are named). Axes are an attribute before opset 13 and an input from
// then on. The sum of nothing is 0. Sums of float32 are taken in float64.
#include <fmt/format.h>

#include <utility>

#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/reduce.h"

namespace assay {

std::unique_ptr<Kernel> make_reduce_sum(NodeSetup& setup) {
  const OnnxElement type = setup.input(0).type;
  if (type == OnnxElement::string || type == OnnxElement::boolean) {
    setup.fail(fmt::format("input 1 must be numbers, found {}", onnx_type_name(type)));
  }
  Reduction reduction = make_reduction(setup, 13);
  return make_sum_kernel(type, std::move(reduction), false);
}

}  // namespace assay

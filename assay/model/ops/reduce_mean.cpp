// ReduceMean: the mean over some axes (all when none are named). Axes are an attribute before opset 18 and an input
// from then on. The mean of nothing is NaN; of whole numbers it is rounded towards zero. Sums of float32 are taken in
// float64.
#include <fmt/format.h>

#include <utility>

#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/reduce.h"

namespace assay {

std::unique_ptr<Kernel> make_reduce_mean(NodeSetup& setup) {
  const OnnxElement type = setup.input(0).type;
  if (type == OnnxElement::string || type == OnnxElement::boolean) {
    setup.fail(fmt::format("input 1 must be numbers, found {}", onnx_type_name(type)));
  }
  Reduction reduction = make_reduction(setup, 18);
  if (!is_floating(type) && reduction.folded() == 0 && reduction.outputs() > 0) {
    setup.fail(fmt::format("the mean of no elements is not a whole number; its input is {} of {}", onnx_type_name(type),
                           onnx_shape_text(setup.input(0).dims)));
  }
  return make_sum_kernel(type, std::move(reduction), true);
}

}  // namespace assay

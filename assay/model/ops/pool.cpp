#include "assay/model/ops/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/node_setup.h"

namespace assay {

PoolPlan PoolPlan::make(NodeSetup& setup) {
  setup.expect_rank(0, 3, 5);
  const ValueInfo& x = setup.input(0);
  if (!setup.has_attribute("kernel_shape")) setup.fail("attribute 'kernel_shape' is missing");
  PoolPlan plan;
  plan.window_ = make_window(setup, Shape(x.dims.begin() + 2, x.dims.end()), setup.integers("kernel_shape"),
                             setup.flag("ceil_mode", false));
  const Window& window = plan.window_;
  Shape dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  // Bounds every list below.
  setup.set_output(0, x.type, dims);

  const size_t missing = 3 - window.rank();
  for (size_t i = 0; i < 3; i++) {
    Side& side = plan.sides_[i];
    if (i < missing) {
      side.first = {0};
      side.taps = side.padded_taps = {1};
      continue;
    }
    const size_t dim = i - missing;
    side.input = window.input[dim];
    side.output = window.output[dim];
    side.dilation = window.dilations[dim];
    for (int64_t o = 0; o < side.output; o++) {
      const WindowPart part = window_part(window, dim, o);
      const int64_t start = window.start(dim, o);
      side.first.push_back(start + part.first * side.dilation);
      side.taps.push_back(part.last - part.first);
      const int64_t room = side.input + window.pads_end[dim] - start;
      side.padded_taps.push_back(std::min(window.kernel[dim], (room + side.dilation - 1) / side.dilation));
    }
    plan.input_plane_ *= static_cast<size_t>(side.input);
    plan.output_plane_ *= static_cast<size_t>(side.output);
  }
  plan.planes_ = element_count(x.dims, 0, 2);
  plan.two_by_two_ = window.kernel == Shape{2, 2} && window.strides == Shape{2, 2} && window.dilations == Shape{1, 1} &&
                     !window.touches_padding();
  return plan;
}

uint64_t PoolPlan::steps() const {
  uint64_t steps = saturated_product(planes_, KernelCost::kSlowSteps);
  for (const Side& side : sides_) {
    uint64_t taps = 0;
    for (const int64_t count : side.taps)
      taps = saturated_sum(taps, static_cast<uint64_t>(std::max<int64_t>(count, 0)));
    steps = saturated_product(steps, taps);
  }
  return steps;
}

}  // namespace assay

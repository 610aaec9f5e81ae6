#include "assay/model/ops/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "assay/core/text.h"
#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

// An attribute with `count` numbers of at least `least`, or all `fallback` when it is absent.
std::vector<int64_t> checked_list(const NodeSetup& setup, std::string_view name, size_t count, int64_t least,
                                  int64_t fallback) {
  std::vector<int64_t> values = setup.integers(name);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) {
    setup.fail(fmt::format("attribute '{}' must have {} number{}, found {}", name, count, count == 1 ? "" : "s",
                           values.size()));
  }
  for (const int64_t value : values) {
    if (value < least || value > kMostElements) {
      setup.fail(
          fmt::format("attribute '{}' must hold numbers from {} to {}, found {}", name, least, kMostElements, value));
    }
  }
  return values;
}

}  // namespace

bool Window::touches_padding() const {
  for (size_t dim = 0; dim < rank(); dim++) {
    if (output[dim] == 0) continue;
    const int64_t end = start(dim, output[dim] - 1) + (kernel[dim] - 1) * dilations[dim] + 1;
    if (pads_begin[dim] > 0 || end > input[dim]) return true;
  }
  return false;
}

Window make_window(const NodeSetup& setup, std::vector<int64_t> input_spatial, std::vector<int64_t> kernel_shape,
                   bool ceil_mode) {
  const size_t rank = input_spatial.size();
  if (kernel_shape.size() != rank) {
    setup.fail(fmt::format("its window has {} dimension{}, but the input has {} spatial ones", kernel_shape.size(),
                           kernel_shape.size() == 1 ? "" : "s", rank));
  }
  Window window;
  window.kernel = std::move(kernel_shape);
  window.input = std::move(input_spatial);
  window.strides = checked_list(setup, "strides", rank, 1, 1);
  window.dilations = checked_list(setup, "dilations", rank, 1, 1);
  const std::string auto_pad = setup.text("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty()) {
    setup.fail(fmt::format("attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, found {}",
                           in_quotes(auto_pad)));
  }
  std::vector<int64_t> pads(2 * rank, 0);
  if (!same && auto_pad != "VALID") pads = checked_list(setup, "pads", 2 * rank, 0, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());

  for (size_t dim = 0; dim < rank; dim++) {
    const int64_t kernel = window.kernel[dim];
    const int64_t stride = window.strides[dim];
    const int64_t input = window.input[dim];
    if (kernel < 1 || kernel > kMostElements || (kernel - 1) > kMostElements / window.dilations[dim]) {
      setup.fail(fmt::format("its window of {} elements at a distance of {} is empty or too large", kernel,
                             window.dilations[dim]));
    }
    if (input < 0 || input > kMostElements) setup.fail(fmt::format("a dimension of {} is too large", input));
    const int64_t extent = (kernel - 1) * window.dilations[dim] + 1;
    if (same) {
      const int64_t output = input / stride + (input % stride != 0 ? 1 : 0);
      const int64_t padding = output == 0 ? 0 : std::max<int64_t>((output - 1) * stride + extent - input, 0);
      const int64_t half = padding / 2;
      window.pads_begin[dim] = auto_pad == "SAME_UPPER" ? half : padding - half;
      window.pads_end[dim] = padding - window.pads_begin[dim];
      window.output.push_back(output);
      continue;
    }
    const int64_t steps = input + window.pads_begin[dim] + window.pads_end[dim] - extent;
    if (steps < 0) {
      setup.fail(fmt::format("its window spans {} elements, more than the {} of the padded input ({} + {} + {})",
                             extent, steps + extent, window.pads_begin[dim], input, window.pads_end[dim]));
    }
    int64_t output = steps / stride + 1;
    if (ceil_mode && steps % stride != 0 && output * stride < input + window.pads_begin[dim]) output++;
    window.output.push_back(output);
  }
  return window;
}

WindowPart window_part(const Window& window, size_t dim, int64_t output_position) {
  const int64_t start = window.start(dim, output_position);
  const int64_t dilation = window.dilations[dim];
  WindowPart part;
  part.first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  part.last = start >= window.input[dim] ? 0 : (window.input[dim] - 1 - start) / dilation + 1;
  part.last = std::min(part.last, window.kernel[dim]);
  part.first = std::min(part.first, part.last);
  return part;
}

}  // namespace assay

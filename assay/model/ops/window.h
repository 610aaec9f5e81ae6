// How a window slides over the spatial dimensions of an input: the arithmetic that pooling and convolutions share.
//
// Output position o of a dimension looks at the input positions o * stride - pad_begin + k * dilation for k in
// 0..kernel-1; those outside 0..input-1 lie in the padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

class NodeSetup;

// One entry per spatial dimension in each list. Sizes, and positions that windows look at, stay below 2^43 in
// magnitude, so that sums of them cannot overflow.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end, input, output;

  size_t rank() const { return kernel.size(); }
  // The input position that the first element of the window at output position o looks at; may be negative.
  int64_t start(size_t dim, int64_t o) const { return o * strides[dim] - pads_begin[dim]; }
  // Whether some position of some window lies outside the input.
  bool touches_padding() const;
};

// Reads the attributes strides, dilations, pads and auto_pad of the node, refuses what cannot be right, and works out
// padding and output sizes. kernel_shape must have as many entries as input_spatial, which must not be empty.
//
// NOTSET: output = floor or ceil((input + pads - extent) / stride) + 1 with extent = (kernel - 1) * dilation + 1.
//
// VALID: the same without pads.
//
// SAME_UPPER, SAME_LOWER: output = ceil(input / stride), and the padding this needs is split in halves, the odd one at
// the end (UPPER) or the beginning (LOWER).
//
// ceil_mode takes the ceiling above, but drops a last window that starts beyond the input and the padding at its
// beginning, as ONNX's reference implementation, ONNX Runtime and PyTorch do. Where auto_pad is not NOTSET the
// attribute pads is ignored, as in ONNX Runtime. A window larger than the padded input is refused.
Window make_window(const NodeSetup& setup, std::vector<int64_t> input_spatial, std::vector<int64_t> kernel_shape,
                   bool ceil_mode = false);

// The part of a window inside the input: elements first..last-1 of the kernel (none when first == last).
struct WindowPart {
  int64_t first = 0;
  int64_t last = 0;
};
WindowPart window_part(const Window& window, size_t dim, int64_t output_position);

}  // namespace assay

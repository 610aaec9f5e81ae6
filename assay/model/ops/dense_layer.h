// A node that is a dense layer, y = x W + b with x of rows by inputs: what a kernel that fuses layers must know of it.
#pragma once

#include <cstddef>

namespace assay {

class DenseLayer {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  size_t inputs = 0;
  size_t outputs = 0;
  // Which inputs of the node hold W and b, both float32. W's element of input k and output n is at
  // k * input_stride + n * output_stride; b has `outputs` elements.
  size_t weight_input = 1;
  size_t bias_input = kNone;
  size_t input_stride = 0;
  size_t output_stride = 0;
};

}  // namespace assay

// 16-bit floats (IEEE 754 binary16), which NPY, Arrow and ONNX files hold.
#pragma once

#include <cstdint>

namespace assay {

// Exact: every 16-bit float is a float32.
float float_from_half(uint16_t bits);

}  // namespace assay

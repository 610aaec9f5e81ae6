// Rows between a caller's float32 matrix and the values of a graph's workspace, which are float32 or float64.
#pragma once

#include <cstddef>

#include "assay/core/matrix.h"
#include "assay/core/parallel.h"
#include "assay/model/graph/onnx.h"

namespace assay {

// Copies a fetched value, `width` numbers a row, to the rows begin .. end - 1 of `out`.
void copy_rows(const void* source, OnnxElement type, size_t width, size_t begin, size_t end, MatrixView<float> out);

// Copies the weights of the block's rows to `out`, which Workspace::fetch_gradient gave and which holds `rows` rows.
// Those beyond the block get zeros.
void set_seeds(MatrixView<const float> weights, const Block& block, OnnxElement type, size_t rows, void* out);

}  // namespace assay

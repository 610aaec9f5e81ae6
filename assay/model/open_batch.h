// Lets models take any number of rows, although their files fix one.
#pragma once

#include <cstddef>

#include "assay/model/graph/onnx.h"

namespace assay {

// The number of rows that the graph's inputs fix; 0 when they leave it open.
size_t declared_batch(const OnnxModel& model);

// A copy that may take any number of rows: a constant shape of a Reshape that begins with `batch` begins with -1 ("what
// is left") instead. That need not be enough: the caller must try whether the copy runs.
OnnxModel with_open_batch(OnnxModel model, size_t batch);

}  // namespace assay

// Models whose files fix the number of rows, opened to any number.
#pragma once

#include <cstddef>

#include "assay/model/graph/onnx.h"

namespace assay {

// The number of rows that the graph's inputs fix; 0 when they leave it open.
size_t declared_batch(const OnnxModel& model);

// A copy that may take any number of rows: shapes of Reshape that begin with the fixed number begin with -1, "what is
// left", instead. Whether it then does is for those who run it to find out.
OnnxModel with_open_batch(OnnxModel model, size_t batch);

}  // namespace assay

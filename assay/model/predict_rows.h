// A model's outputs of many rows, a part at a time: memory does not grow with the rows.
#pragma once

#include <cstddef>
#include <functional>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/model/model.h"

namespace assay {

// take(begin, outputs) sees the outputs of rows begin, begin + 1, ..., in order.
void predict_rows(const Model& model, MatrixView<const float> rows,
                  const std::function<void(size_t begin, MatrixView<const float> outputs)>& take,
                  const Context& context);

}  // namespace assay

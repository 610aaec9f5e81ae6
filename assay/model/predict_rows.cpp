#include "assay/model/predict_rows.h"

#include <algorithm>

namespace assay {
namespace {

// Enough that all threads have work and calls cost little.
constexpr size_t kRowsAtATime = 4096;

}  // namespace

void predict_rows(const Model& model, MatrixView<const float> rows,
                  const std::function<void(size_t begin, MatrixView<const float> outputs)>& take,
                  const Context& context) {
  Matrix outputs(std::min(rows.rows(), kRowsAtATime), model.info().outputs());
  for (size_t begin = 0; begin < rows.rows(); begin += kRowsAtATime) {
    const size_t end = std::min(begin + kRowsAtATime, rows.rows());
    const MatrixView<float> part = outputs.view().rows_between(0, end - begin);
    model.predict(rows.rows_between(begin, end), part, context);
    take(begin, part);
  }
}

}  // namespace assay

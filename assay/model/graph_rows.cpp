#include "assay/model/graph_rows.h"

#include <algorithm>
#include <cstring>

#include "assay/model/graph/tensor.h"

namespace assay {

void copy_rows(const void* source, OnnxElement type, size_t width, size_t begin, size_t end, MatrixView<float> out) {
  if (type == OnnxElement::float32 && out.stride() == width) {
    std::memcpy(out.row(begin).data(), source, (end - begin) * width * sizeof(float));
    return;
  }
  for (size_t r = begin; r < end; r++) {
    float* to = out.row(r).data();
    const size_t from = (r - begin) * width;
    if (type == OnnxElement::float32) {
      std::memcpy(to, static_cast<const float*>(source) + from, width * sizeof(float));
    } else {
      std::copy_n(static_cast<const double*>(source) + from, width, to);
    }
  }
}

void set_seeds(MatrixView<const float> weights, const Block& block, OnnxElement type, size_t rows, void* out) {
  const size_t width = weights.cols();
  const size_t given = block.end - block.begin;
  std::memset(static_cast<std::byte*>(out) + given * width * element_size(type), 0,
              (rows - given) * width * element_size(type));
  if (type == OnnxElement::float32 && weights.stride() == width) {
    std::memcpy(out, weights.row(block.begin).data(), given * width * sizeof(float));
    return;
  }
  for (size_t r = block.begin; r < block.end; r++) {
    const auto row = weights.row(r);
    const size_t to = (r - block.begin) * width;
    if (type == OnnxElement::float32) {
      std::copy(row.begin(), row.end(), static_cast<float*>(out) + to);
    } else {
      std::copy(row.begin(), row.end(), static_cast<double*>(out) + to);
    }
  }
}

}  // namespace assay

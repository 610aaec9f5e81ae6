#include "assay/model/ops/matrix_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/model/kernels/products.h"
#include "assay/model/ops/node_setup.h"

namespace assay {

void add_product(size_t m, size_t n, size_t k, MatrixPart<float> a, MatrixPart<float> b, float* out) {
  // Both are contiguous along the inner dimension.
  if (a.col == 1 && b.row == 1 && b.col != 1) {
    ProductOfRows p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = a.data;
    p.a_row = a.row;
    p.b = b.data;
    p.b_row = b.col;
    p.out = out;
    p.out_row = n;
    return product_of_rows(p);
  }
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a.data;
  p.a_row = a.row;
  p.a_col = a.col;
  p.b = b.data;
  p.b_row = b.row;
  p.accumulate = true;
  p.out = out;
  p.out_row = n;
  if (b.col == 1) return product(p);
  // Block by block of b, turned over.
  constexpr size_t kColumns = 64;
  constexpr size_t kSteps = 128;
  alignas(64) float block[kSteps * kColumns];
  for (size_t l = 0; l < k; l += kSteps) {
    for (size_t j = 0; j < n; j += kColumns) {
      p.n = std::min(kColumns, n - j);
      p.k = std::min(kSteps, k - l);
      transpose(b.data + j * b.col + l * b.row, b.col, p.n, p.k, block, kColumns);
      p.a = a.data + l * a.col;
      p.b = block;
      p.b_row = kColumns;
      p.out = out + j;
      product(p);
    }
  }
}

OnnxElement product_type(const NodeSetup& setup) {
  const OnnxElement type = setup.input(0).type;
  switch (type) {
    case OnnxElement::float32:
    case OnnxElement::float64:
    case OnnxElement::int32:
    case OnnxElement::int64:
    case OnnxElement::uint32:
    case OnnxElement::uint64: break;
    default:
      setup.fail(
          fmt::format("input 1 must be FLOAT, DOUBLE or an integer of 32 or 64 bits, found {}", onnx_type_name(type)));
  }
  setup.typed_input(1, type);
  return type;
}

}  // namespace assay

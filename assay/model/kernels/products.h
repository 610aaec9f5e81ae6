// Products of float32 matrices, the inner loops of dense layers and convolutions.
//
// Every element of a product is one chain of fused multiply-adds over the inner dimension in ascending order (where the
// vector target has no fused ones, a multiply and an add), so that its bits depend on the inner dimension and the
// operands alone: not on the number of rows, the tile it falls into or the threads. product_of_rows instead splits long
// chains over a fixed number of lanes.
#pragma once

#include <cstddef>

namespace assay {

// out[i][j] = start + sum over l of a(i, l) * b[l][j] for i < m, j < n, l < k, where a(i, l) = a[i * a_row + l *
// a_col], b[l][j] = b[l * b_row + j] and out[i][j] = out[i * out_row + j]. start = out[i][j] itself when `accumulate`,
// else bias[i] when bias is not null, else 0. With `leaky`, a result y that is not above 0 becomes slope * y. out must
// not overlap a or b. Any pointer alignment.
struct Product {
  size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  size_t a_row = 0, a_col = 1;
  const float* b = nullptr;
  size_t b_row = 0;
  const float* bias = nullptr;
  bool accumulate = false;
  float* out = nullptr;
  size_t out_row = 0;
  bool leaky = false;
  float slope = 0;
};
void product(const Product& p);

// out[i * out_row + j * out_col] += sum over l of a[i * a_row + l] * b[j * b_row + l] for i < m, j < n, l < k.
// A sum of more than 128 terms runs in 16 lanes (l modulo 16) that are then added in a fixed order, a shorter one in
// one chain. out must not overlap a or b.
struct ProductOfRows {
  size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  size_t a_row = 0;
  const float* b = nullptr;
  size_t b_row = 0;
  float* out = nullptr;
  size_t out_row = 0, out_col = 1;
};
void product_of_rows(const ProductOfRows& p);

// out[j * out_row + i] = in[i * in_row + j] for i < rows, j < cols.
void transpose(const float* in, size_t in_row, size_t rows, size_t cols, float* out, size_t out_row);

}  // namespace assay

// product_of_rows: long rows by tiles of dot products in 16 lanes; short ones, whose lanes would take longer to add up
// than to fill, through `product` with blocks of B transposed. Which of the two depends on the inner dimension alone.
#include <algorithm>
#include <utility>

#include "assay/model/kernels/elementwise.h"
#include "assay/model/kernels/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/kernels/product_of_rows.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_SCALABLE
using Floats = hn::CappedTag<float, 4>;
#else
using Floats = hn::CappedTag<float, 16>;
#endif
using Vector = hn::Vec<Floats>;
constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr size_t kSumLanes = 16;
constexpr size_t kVectors = kSumLanes / kLanes;

// Sums in registers: 16 vectors of AVX-512, 12 of AVX2; before, vectors are too narrow to keep many sums.
#if HWY_TARGET == HWY_AVX2
constexpr size_t kTileRows = 3;
constexpr size_t kTileColumns = 2;
#elif HWY_ARCH_X86 && HWY_TARGET < HWY_AVX2
constexpr size_t kTileRows = 4;
constexpr size_t kTileColumns = 4;
#else
constexpr size_t kTileRows = 1;
constexpr size_t kTileColumns = 2;
#endif

// Lanes are added as i and i + 8, then i and i + 4, i and i + 2, i and i + 1: the same order on every target.
template <class D>
HWY_INLINE float sum_of_lanes(D, hn::Vec<D> sum) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return sum_of_lanes(half, hn::Add(hn::LowerHalf(half, sum), hn::UpperHalf(half, sum)));
  }
  sum = hn::Add(sum, hn::Shuffle1032(sum));
  sum = hn::Add(sum, hn::Shuffle2301(sum));
#endif
  return hn::GetLane(sum);
}
HWY_INLINE float sum_of_vectors(Vector* sums) {
  HWY_UNROLL(4)
  for (size_t half = kVectors / 2; half > 0; half /= 2) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < half; v++) sums[v] = hn::Add(sums[v], sums[v + half]);
  }
  return sum_of_lanes(Floats(), sums[0]);
}

// GCC would load a vector that is used twice from memory twice, and loads are what limits these loops.
template <class V>
HWY_INLINE void keep_in_register(V& vector) {  // NOLINT(misc-const-correctness)
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(vector.raw));  // NOLINT(hicpp-no-assembler)
#else
  (void)vector;
#endif
}

template <size_t kRows, size_t kColumns>
HWY_NOINLINE void compute_tile(const ProductOfRows& p, size_t i0, size_t j0) {
  const Floats d;
  const float* HWY_RESTRICT a = p.a + i0 * p.a_row;
  const float* HWY_RESTRICT b = p.b + j0 * p.b_row;
  Vector sum[kRows][kColumns][kVectors];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; i++) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kColumns; j++) {
      HWY_UNROLL(16)
      for (size_t v = 0; v < kVectors; v++) sum[i][j][v] = hn::Zero(d);
    }
  }
  size_t l = 0;
  for (; l + kSumLanes <= p.k; l += kSumLanes) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; v++) {
      Vector right[kColumns];
      HWY_UNROLL(16)
      for (size_t j = 0; j < kColumns; j++) right[j] = hn::LoadU(d, b + j * p.b_row + l + v * kLanes);
      HWY_UNROLL(16)
      for (size_t i = 0; i < kRows; i++) {
        Vector left = hn::LoadU(d, a + i * p.a_row + l + v * kLanes);
        keep_in_register(left);
        HWY_UNROLL(16)
        for (size_t j = 0; j < kColumns; j++) sum[i][j][v] = hn::MulAdd(left, right[j], sum[i][j][v]);
      }
    }
  }
  if (l < p.k) {
    // Zeros where the rows have ended: they leave the lanes' sums as they are.
    HWY_ALIGN float ends[kRows + kColumns][kSumLanes] = {};
    for (size_t i = 0; i < kRows; i++) std::copy(a + i * p.a_row + l, a + i * p.a_row + p.k, ends[i]);
    for (size_t j = 0; j < kColumns; j++) std::copy(b + j * p.b_row + l, b + j * p.b_row + p.k, ends[kRows + j]);
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; v++) {
      HWY_UNROLL(16)
      for (size_t i = 0; i < kRows; i++) {
        HWY_UNROLL(16)
        for (size_t j = 0; j < kColumns; j++) {
          sum[i][j][v] =
              hn::MulAdd(hn::Load(d, ends[i] + v * kLanes), hn::Load(d, ends[kRows + j] + v * kLanes), sum[i][j][v]);
        }
      }
    }
  }
  float* out = p.out + i0 * p.out_row + j0 * p.out_col;
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; i++) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kColumns; j++) out[i * p.out_row + j * p.out_col] += sum_of_vectors(sum[i][j]);
  }
}

template <size_t kRows>
void compute_rows(const ProductOfRows& p, size_t i) {
  size_t j = 0;
  for (; j + kTileColumns <= p.n; j += kTileColumns) compute_tile<kRows, kTileColumns>(p, i, j);
  for (; j < p.n; j++) compute_tile<kRows, 1>(p, i, j);
}

void product_of_long_rows(const ProductOfRows& p) {
  size_t i = 0;
  for (; i + kTileRows <= p.m; i += kTileRows) compute_rows<kTileRows>(p, i);
  for (; i + 2 <= p.m; i += 2) compute_rows<2>(p, i);
  for (; i < p.m; i++) compute_rows<1>(p, i);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(product_of_long_rows);

// From here on lanes are faster.
constexpr size_t kShort = 128;

void product_of_short_rows(const ProductOfRows& p) {
  constexpr size_t kBlock = 64;
  alignas(64) float transposed[kShort * kBlock];
  alignas(64) float sums[kBlock * kBlock];
  for (size_t j = 0; j < p.n; j += kBlock) {
    const size_t columns = std::min(kBlock, p.n - j);
    transpose(p.b + j * p.b_row, p.b_row, columns, p.k, transposed, kBlock);
    for (size_t i = 0; i < p.m; i += kBlock) {
      const size_t rows = std::min(kBlock, p.m - i);
      Product block;
      block.m = rows;
      block.n = columns;
      block.k = p.k;
      block.a = p.a + i * p.a_row;
      block.a_row = p.a_row;
      block.b = transposed;
      block.b_row = kBlock;
      block.out = sums;
      block.out_row = kBlock;
      product(block);
      for (size_t r = 0; r < rows; r++) {
        float* out = p.out + (i + r) * p.out_row + j * p.out_col;
        if (p.out_col == 1) {
          add(sums + r * kBlock, out, columns);
        } else {
          for (size_t c = 0; c < columns; c++) out[c * p.out_col] += sums[r * kBlock + c];
        }
      }
    }
  }
}

}  // namespace

void product_of_rows(const ProductOfRows& p) {
  ProductOfRows q = p;
  // The same products seen from the other side, where rows of the output are contiguous or fill more lanes.
  constexpr size_t kFewColumns = 16;
  const bool few_columns = p.k <= kShort && p.n < kFewColumns && p.n < p.m;
  if ((p.out_col != 1 && p.out_row == 1) || few_columns) {
    std::swap(q.m, q.n);
    std::swap(q.a, q.b);
    std::swap(q.a_row, q.b_row);
    std::swap(q.out_row, q.out_col);
  }
  if (q.k <= kShort) {
    product_of_short_rows(q);
  } else {
    HWY_DYNAMIC_DISPATCH(product_of_long_rows)(q);
  }
}

}  // namespace assay
#endif

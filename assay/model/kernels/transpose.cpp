// transpose: blocks of L rows by 4 columns, L the lanes of a vector. Quarters of rows are loaded so that one exchange
// inside the 128-bit parts of vectors leaves each column as a whole vector.
#include <algorithm>

#include "assay/model/kernels/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/kernels/transpose.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void transpose_plainly(const float* in, size_t in_row, size_t rows, size_t cols, float* out, size_t out_row) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) out[j * out_row + i] = in[i * in_row + j];
  }
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

void transpose(const float* in, size_t in_row, size_t rows, size_t cols, float* out, size_t out_row) {
  transpose_plainly(in, in_row, rows, cols, out, out_row);
}

#else

// Four columns of the rows 0, 4, 8, ... of a block.
template <class D>
HWY_INLINE hn::Vec<D> every_fourth_row(D d, const float* in, size_t in_row) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return hn::LoadU(d, in);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, every_fourth_row(half, in + hn::MaxLanes(half) * in_row, in_row),
                       every_fourth_row(half, in, in_row));
  }
}

template <class D>
HWY_INLINE void transpose_block(D d, const float* HWY_RESTRICT in, size_t in_row, float* HWY_RESTRICT out,
                                size_t out_row) {
  const hn::Repartition<uint64_t, D> pairs;
  const auto row0 = every_fourth_row(d, in, in_row);
  const auto row1 = every_fourth_row(d, in + in_row, in_row);
  const auto row2 = every_fourth_row(d, in + 2 * in_row, in_row);
  const auto row3 = every_fourth_row(d, in + 3 * in_row, in_row);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row2, row3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, out + out_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, out + 2 * out_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, out + 3 * out_row);
}

template <class D>
void transpose_with(D d, const float* in, size_t in_row, size_t rows, size_t cols, float* out, size_t out_row) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  if constexpr (kLanes > 4) {
    if (rows < kLanes) return transpose_with(hn::Half<D>(), in, in_row, rows, cols, out, out_row);
  }
  if (rows < kLanes || cols < 4) return transpose_plainly(in, in_row, rows, cols, out, out_row);
  // The last block overlaps the one before where the size is not a multiple: writing twice is cheaper than tails.
  for (size_t i = 0; i < rows; i += kLanes) {
    i = std::min(i, rows - kLanes);
    for (size_t j = 0; j < cols; j += 4) {
      j = std::min(j, cols - 4);
      transpose_block(d, in + i * in_row + j, in_row, out + j * out_row + i, out_row);
    }
  }
}

void transpose(const float* in, size_t in_row, size_t rows, size_t cols, float* out, size_t out_row) {
  const hn::ScalableTag<float> d;
  constexpr size_t kLanes = hn::MaxLanes(d);
  // Two classes, one row each, is what most classifiers put out.
  if (rows == 2 && out_row == 2 && cols >= kLanes) {
    for (size_t j = 0; j < cols; j += kLanes) {
      j = std::min(j, cols - kLanes);
      hn::StoreInterleaved2(hn::LoadU(d, in + j), hn::LoadU(d, in + in_row + j), d, out + 2 * j);
    }
    return;
  }
  if (cols == 2 && in_row == 2 && rows >= kLanes) {
    for (size_t i = 0; i < rows; i += kLanes) {
      i = std::min(i, rows - kLanes);
      hn::Vec<decltype(d)> first, second;
      hn::LoadInterleaved2(d, in + 2 * i, first, second);
      hn::StoreU(first, d, out + i);
      hn::StoreU(second, d, out + out_row + i);
    }
    return;
  }
  transpose_with(d, in, in_row, rows, cols, out, out_row);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(transpose);

}  // namespace

void transpose(const float* in, size_t in_row, size_t rows, size_t cols, float* out, size_t out_row) {
  HWY_DYNAMIC_DISPATCH(transpose)(in, in_row, rows, cols, out, out_row);
}

}  // namespace assay
#endif

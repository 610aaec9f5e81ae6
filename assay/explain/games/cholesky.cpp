#include "assay/explain/games/cholesky.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/cholesky.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

// out[i][j] -= sum over k of left[i][k] right[k][j], for kRows rows and two vectors of columns; of those `columns` are
// written.
template <size_t kRows>
HWY_INLINE void subtract_tile(const double* HWY_RESTRICT left, size_t left_stride, const double* HWY_RESTRICT right,
                              size_t right_stride, size_t depth, size_t columns, double* HWY_RESTRICT out,
                              size_t out_stride) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<Doubles> low[kRows];
  hn::Vec<Doubles> high[kRows];
  for (size_t i = 0; i < kRows; i++) low[i] = high[i] = hn::Zero(d);
  for (size_t k = 0; k < depth; k++) {
    const auto first = hn::LoadU(d, right + k * right_stride);
    const auto second = hn::LoadU(d, right + k * right_stride + lanes);
    for (size_t i = 0; i < kRows; i++) {
      const auto factor = hn::Set(d, left[i * left_stride + k]);
      low[i] = hn::MulAdd(factor, first, low[i]);
      high[i] = hn::MulAdd(factor, second, high[i]);
    }
  }
  for (size_t i = 0; i < kRows; i++) {
    double* to = out + i * out_stride;
    if (columns == 2 * lanes) {
      hn::StoreU(hn::Sub(hn::LoadU(d, to), low[i]), d, to);
      hn::StoreU(hn::Sub(hn::LoadU(d, to + lanes), high[i]), d, to + lanes);
      continue;
    }
    HWY_ALIGN double sums[2 * hn::MaxLanes(Doubles())];
    hn::Store(low[i], d, sums);
    hn::Store(high[i], d, sums + lanes);
    for (size_t j = 0; j < columns; j++) to[j] -= sums[j];
  }
}

// The same for any number of rows and columns; right can be read up to the next multiple of kColumnStep columns.
void subtract_product(const double* left, size_t left_stride, size_t rows, const double* right, size_t right_stride,
                      size_t depth, size_t columns, double* out, size_t out_stride) {
  const size_t step = 2 * hn::Lanes(Doubles());
  for (size_t j = 0; j < columns; j += step) {
    const size_t width = columns - j < step ? columns - j : step;
    size_t i = 0;
    for (; i + 6 <= rows; i += 6) {
      subtract_tile<6>(left + i * left_stride, left_stride, right + j, right_stride, depth, width,
                       out + i * out_stride + j, out_stride);
    }
    for (; i < rows; i++) {
      subtract_tile<1>(left + i * left_stride, left_stride, right + j, right_stride, depth, width,
                       out + i * out_stride + j, out_stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "assay/core/parallel.h"

namespace assay {
namespace {

HWY_EXPORT(subtract_product);

constexpr size_t kPanel = 64;  // as in CholeskySolver
// Right factors are padded to a multiple of this many columns, at least two of the widest vectors.
constexpr size_t kColumnStep = 64;
// Rows of a block of work.
constexpr size_t kBlockRows = 48;

using Corner = std::array<double, kPanel * kPanel>;

// L of a corner of the matrix, in place; false without a positive pivot.
bool factorise_corner(MatrixView<double> a, size_t first, size_t width) {
  for (size_t i = first; i < first + width; i++) {
    for (size_t j = first; j <= i; j++) {
      double sum = a(i, j);
      for (size_t k = first; k < j; k++) sum -= a(i, k) * a(j, k);
      if (i != j) {
        a(i, j) = sum / a(j, j);
        continue;
      }
      if (!(sum > 0)) return false;
      a(i, i) = std::sqrt(sum);
    }
  }
  return true;
}

// The corner's inverse, lower triangular, with its sign turned: a subtracted product then adds.
Corner minus_inverse(MatrixView<const double> a, size_t first, size_t width) {
  Corner inverse{};
  for (size_t j = 0; j < width; j++) {
    for (size_t i = j; i < width; i++) {
      double sum = i == j ? -1 : 0;
      for (size_t k = j; k < i; k++) sum -= a(first + i, first + k) * inverse[k * kPanel + j];
      inverse[i * kPanel + j] = sum / a(first + i, first + i);
    }
  }
  return inverse;
}

Corner transposed(const Corner& corner) {
  Corner turned;
  for (size_t i = 0; i < kPanel; i++) {
    for (size_t j = 0; j < kPanel; j++) turned[j * kPanel + i] = corner[i * kPanel + j];
  }
  return turned;
}

void subtract_product(MatrixView<const double> left, MatrixView<const double> right, MatrixView<double> out) {
  HWY_DYNAMIC_DISPATCH(subtract_product)
  (left.data(), left.stride(), left.rows(), right.data(), right.stride(), right.rows(), out.cols(), out.data(),
   out.stride());
}

template <class T>
MatrixView<T> part(MatrixView<T> a, size_t row, size_t rows, size_t column, size_t columns) {
  return {a.data() + row * a.stride() + column, rows, columns, a.stride()};
}

// Columns first .. first + width - 1 of these rows become minus their product with a corner.
void multiply_panel(MatrixView<double> a, size_t row, size_t rows, size_t first, size_t width, const Corner& corner) {
  const MatrixView<double> panel = part(a, row, rows, first, width);
  std::array<double, kBlockRows * kPanel> old;
  for (size_t i = 0; i < rows; i++) {
    std::ranges::copy(panel.row(i), old.data() + i * kPanel);
    std::ranges::fill(panel.row(i), 0.0);
  }
  subtract_product({old.data(), rows, width, kPanel}, {corner.data(), width, kPanel, kPanel}, panel);
}

}  // namespace

bool factorise(MatrixView<double> a, const Context& context) {
  const size_t n = a.cols();
  assert(a.rows() >= n);
  std::vector<double> turned;  // the panel's rows as columns
  for (size_t first = 0; first < n; first += kPanel) {
    const size_t width = std::min(kPanel, n - first);
    if (!factorise_corner(a, first, width)) return false;
    const size_t next = first + width;
    const size_t columns = n - next;
    const size_t stride = (columns + kColumnStep - 1) / kColumnStep * kColumnStep;
    const Corner corner = transposed(minus_inverse(a, first, width));
    turned.assign(width * stride, 0);
    parallel_blocks(context, a.rows() - next, kBlockRows, [&](const Block& block) {
      const size_t begin = next + block.begin;
      multiply_panel(a, begin, block.end - block.begin, first, width, corner);
      for (size_t i = begin; i < next + block.end && i < n; i++) {
        for (size_t k = 0; k < width; k++) turned[k * stride + i - next] = a(i, first + k);
      }
    });
    parallel_blocks(context, a.rows() - next, kBlockRows, [&](const Block& block) {
      const size_t begin = next + block.begin;
      const size_t rows = block.end - block.begin;
      const size_t until = std::min(columns, block.end);
      subtract_product(part(a, begin, rows, first, width), {turned.data(), width, stride, stride},
                       part(a, begin, rows, next, until));
    });
  }
  return true;
}

void substitute(MatrixView<const double> factor, MatrixView<double> rows, const Context& context) {
  const size_t n = factor.cols();
  assert(rows.cols() == n);
  parallel_blocks(context, rows.rows(), kBlockRows, [&](const Block& block) {
    const size_t count = block.end - block.begin;
    std::vector<double> turned(n * kPanel);
    for (size_t first = 0; first < n; first += kPanel) {
      const size_t width = std::min(kPanel, n - first);
      for (size_t j = 0; j < width; j++) {
        for (size_t k = 0; k < first; k++) turned[k * kPanel + j] = factor(first + j, k);
      }
      subtract_product(part(rows, block.begin, count, 0, first), {turned.data(), first, kPanel, kPanel},
                       part(rows, block.begin, count, first, width));
      multiply_panel(rows, block.begin, count, first, width, transposed(minus_inverse(factor, first, width)));
    }
  });
}

void divide(MatrixView<double> a, const Context& context) {
  const size_t n = a.cols();
  for (size_t end = n; end > 0;) {
    const size_t first = (end - 1) / kPanel * kPanel;
    const size_t width = end - first;
    const Corner corner = minus_inverse(a, first, width);
    parallel_blocks(context, a.rows() - n, kBlockRows, [&](const Block& block) {
      const size_t begin = n + block.begin;
      const size_t rows = block.end - block.begin;
      multiply_panel(a, begin, rows, first, width, corner);
      subtract_product(part(a, begin, rows, first, width), part(a, first, width, 0, first),
                       part(a, begin, rows, 0, first));
    });
    end = first;
  }
}

// Vectors at the end of the last row are read beyond it, into the rows of zeros.
CholeskySolver::CholeskySolver(MatrixView<const double> factor, const Context& context)
    : both_(factor.cols() + 1 + kColumnStep / factor.cols(), factor.cols()) {
  const size_t n = factor.cols();
  inverses_.resize((n + kPanel - 1) / kPanel);
  turned_.resize(inverses_.size());
  parallel_blocks(context, n, kPanel, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) std::copy_n(factor.row(i).data(), i + 1, both_.row(i).data());
    // Above the diagonal, these rows' columns, a square at a time.
    for (size_t below = block.begin; below < n; below += kPanel) {
      for (size_t i = below; i < std::min(n, below + kPanel); i++) {
        for (size_t j = block.begin; j < std::min(i, block.end); j++) both_(j, i) = factor(i, j);
      }
    }
    inverses_[block.index] = minus_inverse(factor, block.begin, block.end - block.begin);
    turned_[block.index] = transposed(inverses_[block.index]);
  });
}

void CholeskySolver::solve(MatrixView<double> rows) const {
  const size_t n = both_.cols();
  assert(rows.cols() == n);
  const MatrixView<const double> both = both_.view();
  for (size_t begin = 0; begin < rows.rows(); begin += kBlockRows) {
    const size_t count = std::min(kBlockRows, rows.rows() - begin);
    for (size_t first = 0; first < n; first += kPanel) {
      const size_t width = std::min(kPanel, n - first);
      const size_t next = first + width;
      multiply_panel(rows, begin, count, first, width, turned_[first / kPanel]);
      subtract_product(part(rows, begin, count, first, width), part(both, first, width, next, n - next),
                       part(rows, begin, count, next, n - next));
    }
    for (size_t end = n; end > 0;) {
      const size_t first = (end - 1) / kPanel * kPanel;
      const size_t width = end - first;
      multiply_panel(rows, begin, count, first, width, inverses_[first / kPanel]);
      subtract_product(part(rows, begin, count, first, width), part(both, first, width, 0, first),
                       part(rows, begin, count, 0, first));
      end = first;
    }
  }
}

}  // namespace assay
#endif

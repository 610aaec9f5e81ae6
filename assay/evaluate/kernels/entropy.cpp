#include "assay/evaluate/kernels/entropy.h"

#include <array>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/evaluate/kernels/entropy.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Columns of a tile: with a row in each lane it stays in the nearest cache.
inline constexpr size_t kTileColumns = 64;

// tile[c][l] = value of column first + c of row l; of fewer rows than lanes the last one is repeated.
HWY_INLINE void fill_tile(const float* HWY_RESTRICT values, size_t rows, size_t columns, size_t first, size_t count,
                          size_t lanes, float* HWY_RESTRICT tile) {
  for (size_t l = 0; l < lanes; l++) {
    const float* HWY_RESTRICT row = values + (l < rows ? l : rows - 1) * columns + first;
    for (size_t c = 0; c < count; c++) tile[c * lanes + l] = row[c];
  }
}

// A row in each lane: no sums across lanes and no columns left over, however few there are.
void row_entropies(const float* HWY_RESTRICT values, size_t rows, size_t columns, double* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);
  HWY_ALIGN std::array<float, kTileColumns * hn::MaxLanes(d)> tile{};
  HWY_ALIGN std::array<double, hn::MaxLanes(d)> found{};
  for (size_t begin = 0; begin < rows; begin += lanes) {
    const size_t here = rows - begin < lanes ? rows - begin : lanes;
    const float* HWY_RESTRICT part = values + begin * columns;
    const auto each_tile = [&](const auto& see) HWY_ATTR {
      for (size_t first = 0; first < columns; first += kTileColumns) {
        const size_t count = columns - first < kTileColumns ? columns - first : kTileColumns;
        // Of few columns the tile is still there from the pass before.
        if (first > 0 || columns > kTileColumns) fill_tile(part, here, columns, first, count, lanes, tile.data());
        for (size_t c = 0; c < count; c++) see(hn::Abs(hn::Load(narrow, tile.data() + c * lanes)));
      }
    };
    if (columns <= kTileColumns) fill_tile(part, here, columns, 0, columns, lanes, tile.data());
    auto most = hn::Zero(narrow);
    auto check = hn::Zero(narrow);
    each_tile([&](auto size) HWY_ATTR {
      most = hn::Max(most, size);
      // 0 times infinity or NaN is NaN, and stays.
      check = hn::Add(check, hn::Mul(size, hn::Zero(narrow)));
    });
    const auto largest = hn::PromoteTo(d, most);
    const auto scale = hn::Div(one, largest);
    auto rest = zero;               // sum of q below 1
    auto equal = hn::Set(d, -1.0);  // how many are 1, but one
    auto logs = zero;
    each_tile([&](auto v) HWY_ATTR {
      const auto size = hn::PromoteTo(d, v);
      const auto is_most = hn::Eq(size, largest);
      const auto q = hn::IfThenZeroElse(is_most, hn::Mul(size, scale));
      rest = hn::Add(rest, q);
      equal = hn::Add(equal, hn::IfThenElseZero(is_most, one));
      // 0 ln 0 = 0, and 1 ln 1 = 0: the logarithm is that of 1 instead.
      logs = hn::MulAdd(q, hn::Log(d, hn::IfThenElse(hn::Gt(q, zero), q, one)), logs);
    });
    const auto others = hn::Add(rest, equal);
    const auto entropy = hn::Sub(hn::Log1p(d, others), hn::Div(logs, hn::Add(one, others)));
    const auto is_number = hn::And(hn::Gt(largest, zero), hn::Eq(hn::PromoteTo(d, check), zero));
    hn::Store(hn::IfThenElse(is_number, entropy, hn::Set(d, std::numeric_limits<double>::quiet_NaN())), d,
              found.data());
    for (size_t l = 0; l < here; l++) out[begin + l] = found[l];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(row_entropies);

}  // namespace

void row_entropies(const float* values, size_t rows, size_t columns, double* out) {
  HWY_DYNAMIC_DISPATCH(row_entropies)(values, rows, columns, out);
}

}  // namespace assay
#endif

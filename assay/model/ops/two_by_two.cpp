#include "assay/model/ops/two_by_two.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/ops/two_by_two.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void squares(D d, const float* upper, const float* lower, float* y, int32_t* winner, int32_t base,
                        int32_t width) {
  const hn::RebindToSigned<D> di;
  hn::Vec<D> best, upper_right, lower_left, lower_right;
  hn::LoadInterleaved2(d, upper, best, upper_right);
  hn::LoadInterleaved2(d, lower, lower_left, lower_right);
  auto offset = hn::Zero(di);
  const auto meet = [&](hn::Vec<D> x, int32_t position) HWY_ATTR {
    const auto wins = hn::Or(hn::Gt(x, best), hn::AndNot(hn::IsNaN(best), hn::IsNaN(x)));
    best = hn::IfThenElse(wins, x, best);
    offset = hn::IfThenElse(hn::RebindMask(di, wins), hn::Set(di, position), offset);
  };
  meet(upper_right, 1);
  meet(lower_left, width);
  meet(lower_right, width + 1);
  const auto column = hn::Iota(di, 0);
  hn::StoreU(best, d, y);
  hn::StoreU(hn::Add(hn::Add(hn::Set(di, base), hn::Add(column, column)), offset), di, winner);
}

// The same values without the winners.
template <class D>
HWY_INLINE void square_values(D d, const float* upper, const float* lower, float* y) {
  hn::Vec<D> upper_left, upper_right, lower_left, lower_right;
  hn::LoadInterleaved2(d, upper, upper_left, upper_right);
  hn::LoadInterleaved2(d, lower, lower_left, lower_right);
  const auto larger = [](hn::Vec<D> a, hn::Vec<D> b) HWY_ATTR {
    // The first of equal ones, and NaN before all.
    return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::AndNot(hn::IsNaN(a), hn::IsNaN(b))), b, a);
  };
  hn::StoreU(larger(larger(larger(upper_left, upper_right), lower_left), lower_right), d, y);
}

// Lines of pooled images are short: the rest of one is taken in halves of a vector, then singly.
void max_of_squares(const float* x, float* y, int32_t* winner, int32_t width, size_t lines, size_t columns) {
  int32_t base = 0;
  for (size_t line = 0; line < lines; line++) {
    const float* upper = x + base;
    const float* lower = upper + width;
    size_t i = 0;
    const auto run = [&](auto d) HWY_ATTR {
      for (const size_t lanes = hn::Lanes(d); i + lanes <= columns; i += lanes) {
        if (winner == nullptr) {
          square_values(d, upper + 2 * i, lower + 2 * i, y + i);
        } else {
          squares(d, upper + 2 * i, lower + 2 * i, y + i, winner + i, base + 2 * static_cast<int32_t>(i), width);
        }
      }
    };
    run(hn::CappedTag<float, 8>());
    run(hn::CappedTag<float, 4>());
    run(hn::CappedTag<float, 1>());
    y += columns;
    if (winner != nullptr) winner += columns;
    if (line + 1 < lines) base += 2 * width;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(max_of_squares);

}  // namespace

void max_of_squares(const float* x, float* y, int32_t* winner, int32_t width, size_t lines, size_t columns) {
  HWY_DYNAMIC_DISPATCH(max_of_squares)(x, y, winner, width, lines, columns);
}

}  // namespace assay
#endif

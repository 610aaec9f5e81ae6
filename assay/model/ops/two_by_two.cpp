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

// The same values without the winners, and whether any element is not a number: then they may be wrong.
template <class D>
HWY_INLINE hn::Mask<D> square_values(D d, const float* upper, const float* lower, float* y) {
  hn::Vec<D> upper_left, upper_right, lower_left, lower_right;
  hn::LoadInterleaved2(d, upper, upper_left, upper_right);
  hn::LoadInterleaved2(d, lower, lower_left, lower_right);
  const auto larger = [](hn::Vec<D> a, hn::Vec<D> b) HWY_ATTR {
    // The first of equal ones, whose zeros may differ in sign.
    return hn::IfThenElse(hn::Gt(b, a), b, a);
  };
  hn::StoreU(larger(larger(larger(upper_left, upper_right), lower_left), lower_right), d, y);
  // A sum is not a number if one of its terms is none. (If they are opposite infinities too: that costs only time.)
  return hn::IsNaN(hn::Add(hn::Add(upper_left, upper_right), hn::Add(lower_left, lower_right)));
}

// Lines of pooled images are short: the rest of one is taken in halves of a vector, then singly.
template <class Squares>
HWY_INLINE void for_squares(size_t columns, const Squares& squares_at) {
  size_t i = 0;
  const auto run = [&](auto d) HWY_ATTR {
    for (const size_t lanes = hn::Lanes(d); i + lanes <= columns; i += lanes) squares_at(d, i);
  };
  run(hn::CappedTag<float, 8>());
  run(hn::CappedTag<float, 4>());
  run(hn::CappedTag<float, 1>());
}

void max_of_squares(const float* x, float* y, int32_t* winner, int32_t width, size_t lines, size_t columns) {
  for (size_t line = 0; line < lines; line++, y += columns) {
    const auto base = static_cast<int32_t>(line) * 2 * width;
    const float* upper = x + base;
    const float* lower = upper + width;
    if (winner == nullptr) {
      bool numbers = true;
      for_squares(columns, [&](auto d, size_t i) HWY_ATTR {
        numbers &= hn::AllFalse(d, square_values(d, upper + 2 * i, lower + 2 * i, y + i));
      });
      if (numbers) continue;
    }
    int32_t spare[8];
    for_squares(columns, [&](auto d, size_t i) HWY_ATTR {
      squares(d, upper + 2 * i, lower + 2 * i, y + i, winner == nullptr ? spare : winner + i,
              base + 2 * static_cast<int32_t>(i), width);
    });
    if (winner != nullptr) winner += columns;
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

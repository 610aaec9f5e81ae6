#include "assay/model/kernels/copy_lines.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/kernels/copy_lines.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors, then parts of one: nothing beyond the line is read or written.
HWY_INLINE void copy_line(const float* HWY_RESTRICT from, size_t width, float* HWY_RESTRICT to) {
  size_t i = 0;
  const auto run = [&](auto d) HWY_ATTR {
    for (const size_t lanes = hn::Lanes(d); i + lanes <= width; i += lanes)
      hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  };
  run(hn::CappedTag<float, 16>());
  run(hn::CappedTag<float, 8>());
  run(hn::CappedTag<float, 4>());
  run(hn::CappedTag<float, 1>());
}

HWY_INLINE void copy_any(LineCopies copies, size_t width) {
  const float* image = copies.from;
  float* columns = copies.to;
  for (size_t channel = 0; channel < copies.channels; channel++) {
    const float* from = image;
    float* to = columns;
    for (size_t line = 0; line < copies.lines; line++, from += copies.line_step, to += width)
      copy_line(from, width, to);
    image += copies.from_channel;
    columns += copies.to_channel;
  }
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// Lines of half a vector: two of them are stored at once.
HWY_INLINE void copy_halves(LineCopies copies) {
  const hn::CappedTag<float, 16> d;
  const hn::Half<decltype(d)> half;
  constexpr size_t kHalf = hn::MaxLanes(half);
  const float* image = copies.from;
  float* columns = copies.to;
  for (size_t channel = 0; channel < copies.channels; channel++) {
    const float* from = image;
    float* to = columns;
    for (size_t line = 0; line + 2 <= copies.lines; line += 2, from += 2 * copies.line_step, to += 2 * kHalf) {
      hn::StoreU(hn::Combine(d, hn::LoadU(half, from + copies.line_step), hn::LoadU(half, from)), d, to);
    }
    if (copies.lines % 2 == 1) hn::StoreU(hn::LoadU(half, from), half, to);
    image += copies.from_channel;
    columns += copies.to_channel;
  }
}

#endif

void copy_lines(const LineCopies& copies) {
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  if (2 * copies.width == hn::MaxLanes(hn::CappedTag<float, 16>())) return copy_halves(copies);
#endif
  // A width that the compiler knows needs no loops within a line.
  switch (copies.width) {
    case 4: return copy_any(copies, 4);
    case 8: return copy_any(copies, 8);
    case 12: return copy_any(copies, 12);
    case 16: return copy_any(copies, 16);
    case 24: return copy_any(copies, 24);
    default: return copy_any(copies, copies.width);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(copy_lines);

}  // namespace

void copy_lines(const LineCopies& copies) { HWY_DYNAMIC_DISPATCH(copy_lines)(copies); }

}  // namespace assay
#endif
